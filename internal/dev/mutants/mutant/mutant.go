// Package mutant selects the changed places of a program that the program of .ci/mutants has built.
package mutant

import (
	"os"
	"strconv"
	"sync/atomic"
)

// Variable is the environment variable of a test program: the number of the active mutant, or the
// file for the numbers of the places that the program reaches.
const Variable = "TOOLSHELF_MUTANT"

var (
	active, log = selected(os.Getenv(Variable))
	reached     [1 << 12]atomic.Bool
)

// selected returns the number of the active mutant, or an open file. No place has the number 0.
func selected(value string) (number int, log *os.File) {
	if number, err := strconv.Atoi(value); err == nil || value == "" {
		return number, nil
	}
	log, err := os.OpenFile(value, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		panic(err)
	}
	return 0, log
}

// On reports whether the mutant with the number is active.
func On(number int) bool {
	if log != nil && !reached[number].Swap(true) {
		log.WriteString(strconv.Itoa(number) + "\n")
	}
	return number == active
}

// Add returns value, or value+delta if the mutant with the number is active.
func Add[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](number, delta int, value T) T {
	if On(number) {
		return value + T(delta)
	}
	return value
}
