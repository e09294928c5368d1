# The wings of the virtual GPU: folders of common/vgpu, each a layer.
include(CheckCXXCompilerFlag)
if(ROOFWALK_NATIVE)
  # Lanes are many short rows: vectors of 256 bits were 8 % faster than of 512 (naive GEMM of 1024 on a Zen 4).
  check_cxx_compiler_flag(-mprefer-vector-width=256 ROOFWALK_PREFERS_VECTOR_WIDTH)
  set(ROOFWALK_WING_NATIVE -march=native $<$<BOOL:${ROOFWALK_PREFERS_VECTOR_WIDTH}>:-mprefer-vector-width=256>)
endif()

# What one wing is compiled with all must be: they instantiate what headers define. Results stay the same to the bit (no
# contraction, no fast-math). Vectors wider than the processor's go from one inline function to the next only, never to
# code that was compiled apart.
function(roofwalk_wing_options target hot)
  target_compile_options(${target} PRIVATE
    $<$<BOOL:${hot}>:-O3> -fno-math-errno -fno-trapping-math -Wno-psabi ${ROOFWALK_WING_NATIVE})
endfunction()

# The headers that nearly every file names, compiled once for each level of optimization.
foreach(kind warm hot)
  string(COMPARE EQUAL ${kind} hot hot)
  file(WRITE ${CMAKE_BINARY_DIR}/wing_headers_${kind}.cpp "")
  add_library(roofwalk_wing_headers_${kind} OBJECT ${CMAKE_BINARY_DIR}/wing_headers_${kind}.cpp)
  target_link_libraries(roofwalk_wing_headers_${kind} PRIVATE fmt::fmt)
  roofwalk_wing_options(roofwalk_wing_headers_${kind} ${hot})
  target_precompile_headers(roofwalk_wing_headers_${kind} PRIVATE
    <algorithm> <array> <bit> <cstdint> <cstring> <deque> <functional> <immintrin.h> <map> <memory> <optional> <set>
    <span> <string> <string_view> <unordered_map> <unordered_set> <vector> <fmt/format.h>)
endforeach()

# roofwalk_wing(NAME [HOT]): behind its roofwalk_layer. HOT: what runs for every instruction or request, whose lane loops
# become vector code; each file is compiled alone, so that what lies beside it does not change what is inlined.
function(roofwalk_wing name)
  cmake_parse_arguments(arg "HOT" "" "" ${ARGN})
  set(target roofwalk_vgpu_${name})
  if(name STREQUAL "")
    set(target roofwalk_vgpu)
  endif()
  roofwalk_wing_options(${target} ${arg_HOT})
  if(arg_HOT)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    target_precompile_headers(${target} REUSE_FROM roofwalk_wing_headers_hot)
  else()
    target_precompile_headers(${target} REUSE_FROM roofwalk_wing_headers_warm)
  endif()
endfunction()
