package rego

import (
	"context"
	"sort"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// maxTestMessage bounds what one test may say of itself.
const maxTestMessage = 4000

// testSet is a policySet with the tests that are run against it.
type testSet struct {
	*policySet
	tests []*namespaced
}

// assembleTests puts each test into the namespace of the policy with its id, where it sees that
// policy's package beside its own. A test with an id of its own sees the library and the decision.
func assembleTests(request *Request) (*testSet, []Diagnostic) {
	set, diagnostics := assemble(request)
	all := &testSet{policySet: set}
	seen := map[string]bool{}
	for _, source := range request.Tests {
		owners := [][]string{}
		for _, policy := range set.policies {
			if policy.source.ID == source.ID {
				owners = append(owners, policy.author)
			}
		}
		test, errs := namespace(source, true, owners, request.Limits)
		if seen[source.ID] {
			errs = append(errs, ast.NewError("governance_policy_id", start(""),
				"two tests have the id %s", source.ID))
		}
		seen[source.ID] = true
		if len(errs) > 0 {
			diagnostics = append(diagnostics, describe(source.ID, errs)...)
			continue
		}
		all.tests = append(all.tests, test)
		set.modules[test.path] = test.module
	}
	return all, diagnostics
}

// diagnoseAll is diagnose with the tests among the sources.
func (set *testSet) diagnoseAll(errs ast.Errors) []Diagnostic {
	both := &policySet{policies: append(append([]*namespaced{}, set.policies...), set.tests...)}
	return both.diagnose(errs)
}

// interpreterCompiler compiles for OPA's own interpreter, built-ins under the authors' names.
func interpreterCompiler(request *Request) *ast.Compiler {
	allowed := capabilities(request.Renames, false)
	allowed.Builtins = append(allowed.Builtins, ast.InternalTestCase) // the tester's own
	return ast.NewCompiler().
		WithCapabilities(allowed).
		WithEnablePrintStatements(true)
}

func runTests(request *Request) *Response {
	set, diagnostics := assembleTests(request)
	if len(diagnostics) > 0 {
		return &Response{Diagnostics: diagnostics}
	}
	scan := &builtinScan{renames: request.Renames}
	if _, errs := scan.resolve(set.modules); len(errs) > 0 {
		return &Response{Diagnostics: set.diagnoseAll(errs)}
	}
	ctx := context.Background()
	store := inmem.NewFromObject(map[string]any{})
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return &Response{Error: err.Error()}
	}
	defer store.Abort(ctx, txn)
	runner := tester.NewRunner().
		SetCompiler(interpreterCompiler(request)).
		SetStore(store).
		SetModules(set.modules).
		SetParallel(1).
		CapturePrintOutput(true).
		// Timers do not fire in here: the host stops a test that takes too long.
		SetTimeout(time.Hour)
	results, err := runner.RunTests(ctx, txn)
	if err != nil {
		return &Response{Diagnostics: set.diagnoseAll(asErrors("", err))}
	}
	response := &Response{Diagnostics: []Diagnostic{}, Tests: []TestResult{}}
	for result := range results {
		response.Tests = append(response.Tests, set.describeResult(result))
	}
	sort.SliceStable(response.Tests, func(i, j int) bool {
		a, b := response.Tests[i], response.Tests[j]
		if a.PolicyID != b.PolicyID {
			return a.PolicyID < b.PolicyID
		}
		return a.Row < b.Row
	})
	return response
}

func (set *testSet) describeResult(result *tester.Result) TestResult {
	one := TestResult{Name: result.Name, Row: 1}
	if result.Location != nil {
		one.Row = result.Location.Row
		for _, source := range append(append([]*namespaced{}, set.tests...), set.policies...) {
			if source.path == result.Location.File {
				one.PolicyID = source.source.ID
				one.Name = strings.Join(source.author, ".") + "." + result.Name
			}
		}
	}
	said := []string{}
	switch {
	case result.Error != nil:
		one.Outcome = "error"
		said = append(said, result.Error.Error())
	case result.Skip:
		one.Outcome = "skip"
	case result.Fail:
		one.Outcome = "fail"
		for path, sub := range result.SubResults.Iter {
			if sub.Fail && len(sub.SubResults) == 0 {
				said = append(said, "failed: "+strings.Join(path, "/"))
			}
		}
	default:
		one.Outcome = "pass"
	}
	if output := strings.TrimSpace(string(result.Output)); output != "" {
		said = append(said, output)
	}
	if len(said) > 0 {
		message := clip(strings.Join(said, "\n"), maxTestMessage)
		one.Message = &message
	}
	return one
}

// clip cuts a text at a byte count without breaking a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
