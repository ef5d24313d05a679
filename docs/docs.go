// Package docs holds the pages of this folder that other files of the project
// cite as sources.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed facts/*.md decisions.md
var pages embed.FS

//go:embed engines.md results.md warnings.md finish.md
var words embed.FS

// Words are the names of the pages whose tables explain words that the command
// prints, those that explain them best first.
func Words() []string { return []string{"warnings.md", "engines.md", "results.md", "finish.md"} }

// Pages holds the pages of Words.
func Pages() fs.FS { return words }

// FS returns the pages that may be cited: decisions.md and those of facts. Paths
// are relative to the folder docs.
func FS() fs.FS { return pages }
