// verdict: compile_error, SOLVE
def gemm(a, b):
    return a @ b
