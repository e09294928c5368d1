# The wings of the virtual GPU: folders of common/vgpu, each of them a layer.
include(CheckCXXCompilerFlag)
if(ROOFWALK_NATIVE)
  # Loops over lanes are short: 256-bit vectors were 8 % faster than 512-bit ones (naive GEMM of 1024 on a Zen 4).
  check_cxx_compiler_flag(-mprefer-vector-width=256 ROOFWALK_PREFERS_VECTOR_WIDTH)
  set(ROOFWALK_NATIVE_OPTIONS -march=native $<$<BOOL:${ROOFWALK_PREFERS_VECTOR_WIDTH}>:-mprefer-vector-width=256>)
endif()

# Options that all wings must share, because they instantiate the same header code. They keep results bit-identical (no
# contraction, no fast-math). -Wno-psabi: vectors wider than the processor's are passed only between inline functions,
# never to code compiled separately.
function(roofwalk_wing_options target hot)
  target_compile_options(${target} PRIVATE
    $<IF:$<BOOL:${hot}>,-O3,-O1> -fno-math-errno -fno-trapping-math -Wno-psabi ${ROOFWALK_NATIVE_OPTIONS})
endfunction()

# Headers included by nearly every file, precompiled once per optimization level.
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

# roofwalk_wing(NAME [HOT] [TOGETHER files...] [TOGETHER_TOO files...]): call after roofwalk_layer. HOT: code that runs
# for every instruction or request, whose lane loops must vectorize. Its largest files are compiled alone, so that other
# files do not affect what is inlined; the small ones are listed and compiled in one or two groups.
function(roofwalk_wing name)
  cmake_parse_arguments(arg "HOT" "" "TOGETHER;TOGETHER_TOO" ${ARGN})
  set(target roofwalk_vgpu_${name})
  if(name STREQUAL "")
    set(target roofwalk_vgpu)
  endif()
  roofwalk_wing_options(${target} ${arg_HOT})
  if(arg_HOT)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${ROOFWALK_UNITY} UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${arg_TOGETHER} PROPERTIES UNITY_GROUP first)
    set_source_files_properties(${arg_TOGETHER_TOO} PROPERTIES UNITY_GROUP second)
    target_precompile_headers(${target} REUSE_FROM roofwalk_wing_headers_hot)
  else()
    target_precompile_headers(${target} REUSE_FROM roofwalk_wing_headers_warm)
  endif()
endfunction()
