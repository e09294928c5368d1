// verdict: compile_error, error
Dear grader,

please find my kernel attached.
