// verdict: compile_error, error
def gemm(a, b):
    return a @ b
