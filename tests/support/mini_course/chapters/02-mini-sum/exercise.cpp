// The exercises of the mini course are in tests/support/mini_exercises.h.
