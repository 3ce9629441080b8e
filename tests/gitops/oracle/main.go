// Answers questions of compare.py with the libraries that Flux and Argo CD use: one question and one answer a line, in JSON.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/gobwas/glob"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

type question struct {
	Op string `json:"op"`
	// A copy of the tree that may be written to.
	Root string `json:"root"`
	// The Flux Kustomization, and the data of ConfigMaps and Secrets in its namespace by kind and name.
	Kustomization map[string]any               `json:"kustomization"`
	Data          map[string]map[string]string `json:"data"`
	Pattern       string                       `json:"pattern"`
	Texts         []string                     `json:"texts"`
}

type answer struct {
	Objects []any  `json:"objects,omitempty"`
	Matches []bool `json:"matches,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		reply := answer{}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			reply.Error = err.Error()
		} else if reply, err = reply.to(asked); err != nil {
			reply = answer{Error: err.Error()}
		}
		if err := out.Encode(reply); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func (answer) to(asked question) (answer, error) {
	switch asked.Op {
	case "flux":
		objects, err := build(asked)
		return answer{Objects: objects}, err
	case "parse":
		var all []any
		for _, text := range asked.Texts {
			objects, err := parse(text)
			if err != nil {
				return answer{}, err
			}
			all = append(all, objects...)
		}
		return answer{Objects: all}, nil
	case "glob":
		// As util/glob of Argo CD calls it for `directory.include` and `exclude`: a star matches a slash.
		compiled, err := glob.Compile(asked.Pattern)
		if err != nil {
			return answer{}, err
		}
		return answer{Matches: each(asked.Texts, compiled.Match)}, nil
	case "path":
		// As the git generator of ApplicationSets calls it for directories: a star does not match a slash.
		if _, err := path.Match(asked.Pattern, ""); err != nil {
			return answer{}, err
		}
		matches := func(text string) bool { found, _ := path.Match(asked.Pattern, text); return found }
		return answer{Matches: each(asked.Texts, matches)}, nil
	}
	return answer{}, fmt.Errorf("unknown operation %q", asked.Op)
}

func each(texts []string, matches func(string) bool) []bool {
	all := []bool{}
	for _, text := range texts {
		all = append(all, matches(text))
	}
	return all
}

func parse(text string) ([]any, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(text))))
	var all []any
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		var object any
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, err
		}
		if object != nil {
			all = append(all, object)
		}
	}
}

// build does what the kustomize-controller does between fetching a source and applying objects.
func build(asked question) ([]any, error) {
	owner := unstructured.Unstructured{Object: asked.Kustomization}
	given, _, err := unstructured.NestedString(owner.Object, "spec", "path")
	if err != nil {
		return nil, err
	}
	directory := filepath.Join(asked.Root, given)
	if _, err := kustomize.NewGenerator(asked.Root, owner).WriteFile(directory); err != nil {
		return nil, err
	}
	built, err := kustomize.SecureBuild(asked.Root, directory, false)
	if err != nil {
		return nil, err
	}
	_, fills, err := unstructured.NestedMap(owner.Object, "spec", "postBuild")
	if err != nil {
		return nil, err
	}
	var all []any
	for _, made := range built.Resources() {
		if fills {
			if made, err = filled(owner, made, asked.Data); err != nil {
				return nil, err
			}
		}
		object, err := made.Map()
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	return all, nil
}

func filled(owner unstructured.Unstructured, made *resource.Resource, data map[string]map[string]string) (*resource.Resource, error) {
	substituted, err := kustomize.SubstituteVariables(context.Background(), cluster{data: data}, owner, made)
	if err != nil || substituted != nil {
		return substituted, err
	}
	// The object asks to be left as it is.
	return made, nil
}

// cluster holds the ConfigMaps and Secrets that `substituteFrom` may name.
type cluster struct {
	client.Client
	data map[string]map[string]string
}

func (c cluster) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, key.Name)
	switch object := object.(type) {
	case *corev1.ConfigMap:
		data, ok := c.data["ConfigMap/"+key.Name]
		if !ok {
			return missing
		}
		object.Data = data
	case *corev1.Secret:
		data, ok := c.data["Secret/"+key.Name]
		if !ok {
			return missing
		}
		object.Data = map[string][]byte{}
		for name, value := range data {
			object.Data[name] = []byte(value)
		}
	default:
		return missing
	}
	return nil
}
