//go:build wasip1

// Command rego-compiler is OPA's compiler, test runner and interpreter as one WebAssembly
// library: JSON in, JSON out, no file system, no clock of its own but the host's, no network.
//
// The host calls alloc(n), writes a request of n bytes there, calls run(), and reads size()
// bytes at result(). A request is answered completely before the next one.
package main

import (
	"unsafe"

	"governance/rego-compiler/rego"
)

var (
	request  []byte
	response []byte
)

func main() {}

//go:wasmexport alloc
func alloc(n int32) unsafe.Pointer {
	request = make([]byte, n)
	return unsafe.Pointer(unsafe.SliceData(request))
}

//go:wasmexport run
func run() {
	response = rego.Handle(request)
	request = nil
}

//go:wasmexport result
func result() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(response))
}

//go:wasmexport size
func size() int32 {
	return int32(len(response))
}
