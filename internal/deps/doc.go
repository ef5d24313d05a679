// Package deps holds tests of the module as a whole: what its packages may
// import, and how its files are kept.
package deps
