// Package markdown finds the blocks, the code and the first paragraph of a Markdown text, and the
// kind of a line, according to CommonMark 0.31 (https://spec.commonmark.org/0.31.2/). The package
// builds no syntax tree. All scans take linear time.
package markdown
