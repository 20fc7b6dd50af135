package rego

import (
	"sort"

	"github.com/open-policy-agent/opa/v1/ast"
)

// native lists the built-ins that OPA's WebAssembly carries itself. capabilities_test.go holds it
// against the table in OPA's own source (internal/compiler/wasm/wasm.go).
var native = []*ast.Builtin{
	ast.Plus, ast.Minus, ast.Multiply, ast.Divide, ast.Abs, ast.Round, ast.Ceil, ast.Floor, ast.Rem,
	ast.ArrayConcat, ast.ArrayFlatten, ast.ArrayReverse, ast.ArraySlice,
	ast.SetDiff, ast.And, ast.Or, ast.Intersection, ast.Union,
	ast.IsNumber, ast.IsString, ast.IsBoolean, ast.IsArray, ast.IsSet, ast.IsObject, ast.IsNull,
	ast.TypeNameBuiltin,
	ast.BitsOr, ast.BitsAnd, ast.BitsNegate, ast.BitsXOr, ast.BitsShiftLeft, ast.BitsShiftRight,
	ast.Count, ast.Sum, ast.Product, ast.Max, ast.Min, ast.Sort, ast.All, ast.Any,
	ast.Base64IsValid, ast.Base64Decode, ast.Base64Encode, ast.Base64UrlEncode, ast.Base64UrlDecode,
	ast.NetCIDRContains, ast.NetCIDROverlap, ast.NetCIDRIntersects,
	ast.Equal, ast.GreaterThan, ast.GreaterThanEq, ast.LessThan, ast.LessThanEq, ast.NotEqual,
	ast.GlobMatch, ast.JSONMarshal, ast.JSONUnmarshal, ast.JSONIsValid,
	ast.ObjectFilter, ast.ObjectGet, ast.ObjectKeys, ast.ObjectRemove, ast.ObjectUnion,
	ast.ObjectUnionN,
	ast.Concat, ast.FormatInt, ast.IndexOf, ast.Substring, ast.Lower, ast.Upper, ast.Contains,
	ast.StartsWith, ast.EndsWith, ast.StringReverse, ast.Split, ast.Replace, ast.ReplaceN,
	ast.Trim, ast.TrimLeft, ast.TrimPrefix, ast.TrimRight, ast.TrimSuffix, ast.TrimSpace,
	ast.InternalTemplateString, ast.NumbersRange, ast.ToNumber, ast.WalkBuiltin,
	ast.ReachableBuiltin, ast.RegexIsValid, ast.RegexMatch, ast.RegexMatchDeprecated,
	ast.RegexFindAllStringSubmatch, ast.JSONRemove, ast.JSONFilter, ast.Member, ast.MemberWithKey,
}

// erased lists what the compiler rewrites away, so that nothing of it reaches the WebAssembly:
// assignment and unification, print (dropped) and the metadata of rules (made constants).
var erased = []*ast.Builtin{
	ast.Equality, ast.Assign, ast.Print,
	ast.RegoMetadataChain, ast.RegoMetadataRule,
}

// assembled lists what only OPA's compiler may write: an author's own call would reach the
// WebAssembly.
var assembled = []*ast.Builtin{ast.InternalPrint}

var (
	erasedNames = names(erased)
	nativeNames = names(native, erased)
)

func names(lists ...[]*ast.Builtin) map[string]*ast.Builtin {
	found := map[string]*ast.Builtin{}
	for _, list := range lists {
		for _, builtin := range list {
			found[builtin.Name] = builtin
		}
	}
	return found
}

// capabilities are those that a policy is compiled with. With renames applied, our own built-ins
// stand under the WebAssembly's names; without, under the author's (for OPA's interpreter).
// AllowNet stays an empty list, so that no JSON schema is ever fetched.
func capabilities(renames map[string]string, renamed bool) *ast.Capabilities {
	stock := ast.CapabilitiesForThisVersion()
	all := &ast.Capabilities{
		FutureKeywords:  stock.FutureKeywords,
		WasmABIVersions: stock.WasmABIVersions,
		Features:        stock.Features,
		AllowNet:        []string{},
	}
	for _, builtin := range nativeNames {
		all.Builtins = append(all.Builtins, builtin)
	}
	all.Builtins = append(all.Builtins, assembled...)
	for from, to := range renames {
		builtin, known := ast.BuiltinMap[from]
		if !known {
			continue
		}
		if renamed {
			copied := *builtin
			copied.Name = to
			builtin = &copied
		}
		all.Builtins = append(all.Builtins, builtin)
	}
	sort.Slice(all.Builtins, func(i, j int) bool {
		return all.Builtins[i].Name < all.Builtins[j].Name
	})
	return all
}
