# Targets for people; "make check" is what CI runs.
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 30s

.PHONY: help test race lint fuzz bench golden conform check interop tapes confirm
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

test: ## run the tests
	$(GO) test ./...

race: ## run the tests under the race detector
	$(GO) test -race ./...

lint: ## gofmt, gofumpt, vet, staticcheck, and the suite's own lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	@out=$$(git ls-files '*.go' ':!docs/comparers' | xargs $(TOOL) gofumpt -l); test -z "$$out" || { echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(GO) run ./cmd/conform lint

fuzz: ## run every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test $$pkg -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) || exit 1; done; done

bench: ## measure the codecs beside the official SDKs; RECORDINGS=DIR adds the replies below it
	cd bench && $(GO) run . $(if $(RECORDINGS),-recordings $(abspath $(RECORDINGS)))

golden: ## write the golden files anew; read the diff before you commit it
	GOLDIE_UPDATE=1 $(GO) test ./report/... ./cmd/...

conform: ## replay the catalogue
	$(GO) run ./cmd/conform run

interop: ## hold the codecs against the tapes of other projects, read in place
	cd interop && $(GO) test ./...

tapes: ## write the requests of every tape anew; read the diff before you commit it
	GOLDIE_UPDATE=1 $(GO) test -count=1 -run TestTapesAreAsWritten ./suite

confirm: ## count the facts of the catalogue in the recordings below RECORDINGS
	GOLDIE_UPDATE=1 RECORDINGS=$(abspath $(RECORDINGS)) $(GO) test -count=1 -run TestFigures ./internal/confirm

check: ## everything that CI runs
	.ci/run
