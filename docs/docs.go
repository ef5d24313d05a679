// Package docs holds the pages of this folder that other files of the project
// cite as sources.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed facts/*.md decisions.md
var pages embed.FS

// FS returns the pages that may be cited: decisions.md and those of facts. Paths
// are relative to the folder docs.
func FS() fs.FS { return pages }
