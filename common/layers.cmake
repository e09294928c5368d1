# The layers of common/, lowest first, and what each may use: the one list that CMake and the layer test share.
# roofwalk_layer(NAME SOURCES ... USES layers ... LINKS external targets ...)
set(ROOFWALK_LAYERS base sandbox record specs ptx build vgpu plan device roofline exercise verify measure plot store)

function(roofwalk_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(roofwalk_${name} STATIC ${arg_SOURCES})
  target_include_directories(roofwalk_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  list(TRANSFORM arg_USES PREPEND roofwalk_)
  target_link_libraries(roofwalk_${name} PUBLIC ${arg_USES} ${arg_LINKS})
  set_property(GLOBAL APPEND PROPERTY ROOFWALK_LAYER_USES "${name}:${arg_USES}")
endfunction()

# Tests are compiled once for every change and run for seconds: they are built without optimization, on one precompiled
# set of headers.
function(roofwalk_build_as_test name)
  target_compile_options(${name} PRIVATE -O0)
  target_precompile_headers(${name} REUSE_FROM roofwalk_test_headers)
endfunction()

# roofwalk_unit_test(NAME SOURCES ... USES ...): one executable, each case a CTest of the label `unit`.
function(roofwalk_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND roofwalk_)
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gtest_main GTest::gmock)
  roofwalk_build_as_test(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
endfunction()
