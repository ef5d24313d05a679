//go:build !unix

package files_test

import "testing"

func fifo(t *testing.T, _ string) { t.Skip("no named pipes here") }
