// verdict: compile_error, SOLVE
Dear grader,

please find my kernel attached.
