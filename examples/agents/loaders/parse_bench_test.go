package loaders_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/adrg/frontmatter"
	goccy "github.com/goccy/go-yaml"
	"github.com/toolshelf-go/toolshelf/agentmd"
	yaml "go.yaml.in/yaml/v3"
)

// BenchmarkParse reads a file of 7 KB with each class of public headers, and reports the time of
// agentmd.Parse, of two YAML libraries with the header alone, and of adrg/frontmatter, and the
// ratios to agentmd.Parse. The other libraries decode into a map.
func BenchmarkParse(b *testing.B) {
	for _, class := range []struct{ name, header string }{
		{"plain", "name: review\ndescription: Review the changes of a branch and list what to mend\nallowed-tools: Read, Grep, Glob\nmodel: default\n"},
		{"quoted", "name: report\ndescription: \"Analyze the service logs: number 7, and report\"\nlicense: 'MIT'\n"},
		{"list", "name: check\ndescription: Check the reasoning\ntools:\n  - read\n  - write\n  - bash\n"},
		{"block", "name: animate\ndescription: >-\n  Use this skill when the user wants to build animations, scroll effects,\n  parallax, pinned sections, or text animations.\n"},
		{"metadata", "name: launch\ndescription: Launch a product\nlicense: MIT\nmetadata:\n  author: example\n  version: \"2.0.0\"\n"},
	} {
		b.Run(class.name, func(b *testing.B) {
			header := []byte(class.header)
			file := []byte("---\n" + class.header + "---\n" + strings.Repeat("Read the form, and ask for the missing fields.\n", 150))
			if fields := map[string]any{}; goccy.Unmarshal(header, &fields) != nil || yaml.Unmarshal(header, &fields) != nil || fields["name"] != agentmd.Parse(file).Frontmatter.Text("name") {
				b.Fatal("the libraries disagree")
			}
			runs := []struct {
				name string
				do   func()
			}{
				{"agentmd", func() { agentmd.Parse(file) }},
				{"yaml.v3", func() { _ = yaml.Unmarshal(header, new(map[string]any)) }},
				{"goccy", func() { _ = goccy.Unmarshal(header, new(map[string]any)) }},
				{"adrg", func() { _, _ = frontmatter.Parse(bytes.NewReader(file), new(map[string]any)) }},
			}
			took := make([]time.Duration, len(runs))
			for b.Loop() {
				for i, run := range runs {
					begin := time.Now()
					for range 100 {
						run.do()
					}
					took[i] += time.Since(begin)
				}
			}
			for i, run := range runs {
				b.ReportMetric(float64(took[i].Nanoseconds())/float64(100*b.N), "ns/"+run.name)
				if i > 0 {
					b.ReportMetric(float64(took[i])/float64(took[0]), run.name+"/agentmd")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
