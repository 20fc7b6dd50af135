// Prints the results of golang.org/x/mod/sumdb/tlog for the leaves "leaf 0", "leaf 1" and so on, from which
// shared/src/evidence/merkle-vectors.json was made: for each size the root, and SHA-256 over every
// inclusion proof and then every consistency proof, each a line of hexadecimal.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

type tree struct {
	Size   int64  `json:"size"`
	Root   string `json:"root"`
	Proofs string `json:"proofs"`
}

type store []tlog.Hash

func (s store) ReadHashes(at []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(at))
	for i, one := range at {
		found[i] = s[one]
	}
	return found, nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var hashes store
	var trees []tree
	for size := int64(1); size <= 64; size++ {
		added, err := tlog.StoredHashes(size-1, fmt.Appendf(nil, "leaf %d", size-1), hashes)
		check(err)
		hashes = append(hashes, added...)
		root, err := tlog.TreeHash(size, hashes)
		check(err)
		digest := sha256.New()
		for leaf := int64(0); leaf < size; leaf++ {
			proof, err := tlog.ProveRecord(size, leaf, hashes)
			check(err)
			for _, hash := range proof {
				fmt.Fprintf(digest, "%x", hash[:])
			}
			fmt.Fprintln(digest)
		}
		for first := int64(1); first <= size; first++ {
			proof, err := tlog.ProveTree(size, first, hashes)
			check(err)
			for _, hash := range proof {
				fmt.Fprintf(digest, "%x", hash[:])
			}
			fmt.Fprintln(digest)
		}
		trees = append(trees, tree{size, fmt.Sprintf("%x", root[:]), fmt.Sprintf("%x", digest.Sum(nil))})
	}
	check(json.NewEncoder(os.Stdout).Encode(trees))
}
