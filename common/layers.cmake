# The layers of common/, lowest first: a layer may use only earlier ones. CMake and the layer test both read this list.
# roofwalk_layer(NAME [OBJECTS: an object library] SOURCES ... USES layers ... LINKS external targets ...
#                [OWN_HEADERS: its own precompiled header])
set(ROOFWALK_LAYERS base sandbox record specs ptx build
  vgpu/trace vgpu/memory vgpu/program vgpu/state vgpu/requests vgpu/sanitizer vgpu/exec vgpu/lowering vgpu/timing vgpu
  plan device roofline exercise verify measure plot store cudart)
# The layers of grader/, which are above those of common/; also lowest first.
set(ROOFWALK_GRADER_LAYERS
  text course rig attempt walk terminal profile operations/kernels operations author doctor programs
  class/terms class/hand_ins class/batch class/slurm class/handout class/exports class/site class cmd cmd/author cmd/class)

# External headers that nearly every file uses, precompiled once. No header belongs here whose inline functions use
# templates: GCC instantiates those again in every file, whether it uses them or not.
file(WRITE ${CMAKE_BINARY_DIR}/headers.cpp "")
add_library(roofwalk_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
target_link_libraries(roofwalk_headers PRIVATE fmt::fmt)
target_precompile_headers(roofwalk_headers PRIVATE
  <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory> <optional> <set>
  <span> <sstream> <string> <string_view> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# roofwalk_optimize(LEVEL FILES...): for files of this folder whose loops run long enough for speed to matter. Each file
# is compiled alone, so that inlining does not depend on other files, and without the precompiled headers: these are
# made for one optimization level, and GCC 12 crashes if another level uses them.
function(roofwalk_optimize level)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "${level}" SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(roofwalk_layer name)
  cmake_parse_arguments(arg "OBJECTS;OWN_HEADERS" "" "SOURCES;USES;LINKS" ${ARGN})
  set(kind STATIC)
  if(arg_OBJECTS)
    set(kind OBJECT)
  endif()
  string(REPLACE / _ target roofwalk_${name})
  add_library(${target} ${kind} ${arg_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  list(TRANSFORM arg_USES PREPEND roofwalk_)
  list(TRANSFORM arg_USES REPLACE / _)
  target_link_libraries(${target} PUBLIC ${arg_USES} ${arg_LINKS})
  if(NOT arg_OWN_HEADERS)
    target_precompile_headers(${target} REUSE_FROM roofwalk_headers)
  endif()
endfunction()

# Tests are compiled for every change and run for seconds, so they are built without optimization and share one set of
# precompiled headers.
function(roofwalk_build_as_test name)
  target_compile_options(${name} PRIVATE -O0)
  target_precompile_headers(${name} REUSE_FROM roofwalk_test_headers)
endfunction()

# roofwalk_built_for_long_tests(TARGETS...): programs that only long tests and people use. They are built by `./roofwalk
# test --all` or by name, not by `./roofwalk test`.
add_custom_target(long_tests)
function(roofwalk_built_for_long_tests)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(long_tests ${ARGN})
endfunction()

# roofwalk_unit_test(NAME SOURCES ... USES ... [LONG filter] [TOGETHER filter]): one executable; each case is a CTest
# with the label `unit`. Cases that match LONG get `unit-long` and run only with all tests, for example those that repeat
# for every chapter. Cases that match TOGETHER are one CTest, for hundreds that take less time than a process.
function(roofwalk_unit_test name)
  cmake_parse_arguments(arg "" "LONG;TOGETHER" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND roofwalk_)
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gtest_main GTest::gmock)
  roofwalk_build_as_test(${name})
  string(JOIN ":" others ${arg_LONG} ${arg_TOGETHER})
  if(others)
    set(others TEST_FILTER -${others})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 ${others} PROPERTIES LABELS unit)
  if(arg_TOGETHER)
    add_test(NAME ${name}.together COMMAND ${name} --gtest_brief=1 --gtest_filter=${arg_TOGETHER})
    set_tests_properties(${name}.together PROPERTIES LABELS unit)
  endif()
  if(arg_LONG)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER ${arg_LONG} TEST_LIST ${name}_long
      PROPERTIES LABELS unit-long COST 60)  # before the quick ones, so that none of them runs last and alone
  endif()
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/vgpu/wing.cmake)
