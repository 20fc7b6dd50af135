package rego

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The table of native built-ins in OPA's own source decides what runs in the WebAssembly.
func TestNativeIsWhatOPACompilesNatively(t *testing.T) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "internal/compiler/wasm/wasm.go"))
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)var builtinsFunctions = map\[string\]string\{(.*?)\n\}`).FindSubmatch(source)
	if table == nil {
		t.Fatal("OPA's table of native built-ins is not where it was")
	}
	theirs := len(regexp.MustCompile(`(?m)^\tast\.\w+\.Name:`).FindAll(table[1], -1))
	if theirs != len(native) {
		t.Errorf("OPA compiles %d built-ins natively, we allow %d", theirs, len(native))
	}
	variables := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^\tast\.(\w+)\.Name:`).FindAllSubmatch(table[1], -1) {
		variables[string(line[1])] = true
	}
	own, err := os.ReadFile("capabilities.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)var native = \[\]\*ast\.Builtin\{(.*?)\n\}`).FindSubmatch(own)
	for _, name := range regexp.MustCompile(`ast\.(\w+)`).FindAllSubmatch(list[1], -1) {
		if !variables[string(name[1])] {
			t.Errorf("%s is not native in OPA's WebAssembly", name[1])
		}
	}
}

func TestCapabilitiesHoldNothingThatReachesOut(t *testing.T) {
	allowed := map[string]bool{}
	for _, renamed := range []bool{true, false} {
		all := capabilities(map[string]string{"sprintf": "governance.sprintf"}, renamed)
		if all.AllowNet == nil || len(all.AllowNet) != 0 {
			t.Error("JSON schemas could be fetched")
		}
		for _, builtin := range all.Builtins {
			allowed[builtin.Name] = true
		}
	}
	for _, name := range []string{"http.send", "net.lookup_ip_addr", "opa.runtime", "rand.intn",
		"io.jwt.decode", "trace", "regex.split", "yaml.unmarshal", "rego.parse_module", "uuid.rfc4122"} {
		if ast.BuiltinMap[name] == nil {
			t.Errorf("%s is no built-in of this OPA: the test checks nothing", name)
		}
		if allowed[name] {
			t.Errorf("%s is allowed", name)
		}
	}
}
