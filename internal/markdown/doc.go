// Package markdown finds what is code in a Markdown text, and what a line
// begins, as CommonMark 0.31 has it (https://spec.commonmark.org/0.31.2/). It
// is for those who look for something in a text and want no tree of it.
package markdown
