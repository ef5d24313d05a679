module github.com/toolconform/conform/interop

go 1.26.0

require github.com/toolconform/conform v0.0.0

replace github.com/toolconform/conform => ../
