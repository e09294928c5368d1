# One target per chapter, for those who prefer CMake to ./roofwalk. Chapters are found by listing the folder.
#   NAME        builds and runs the learner's kernel
#   NAME_test   its correctness cases (GoogleTest) on the learner's kernel
#   NAME_bench  its benchmarks (Google Benchmark)
#   NAME_plot   draws its walk
#   grade       runs every chapter for which my/ has a file
# `ctest -L NAME` runs the chapter's checks: its correctness cases on the starter and the last step, and `dev check`.
# The quick tests run only the quick form of `dev check`, because there may be many chapters.
add_executable(chapter_tests chapter_tests.cpp)
target_link_libraries(chapter_tests PRIVATE roofwalk_grader roofwalk_chapters GTest::gtest)
add_executable(chapter_bench chapter_bench.cpp)
target_link_libraries(chapter_bench PRIVATE roofwalk_grader roofwalk_chapters benchmark::benchmark)

file(GLOB chips CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/common/specs ${PROJECT_SOURCE_DIR}/common/specs/*.toml)
list(TRANSFORM chips REPLACE "\\.toml$" "")
list(REMOVE_ITEM chips classroom)
file(GLOB chapter_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/chapters/*)
foreach(folder IN LISTS chapter_folders)
  if(NOT EXISTS ${folder}/exercise.toml)
    continue()
  endif()
  get_filename_component(numbered ${folder} NAME)
  string(REGEX REPLACE "^[0-9]+-" "" name ${numbered})
  string(REPLACE "-" "_" suite ${name})  # as chapter_tests.cpp names it
  add_custom_target(${name} COMMAND roofwalk run ${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
  add_custom_target(${name}_test
    COMMAND ${CMAKE_COMMAND} -E env ROOFWALK_KERNEL=my/${name}.cu $<TARGET_FILE:chapter_tests> --gtest_filter=${suite}/*
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
  add_dependencies(${name}_test chapter_tests)
  add_custom_target(${name}_bench COMMAND chapter_bench --benchmark_filter=^${name}/
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
  add_custom_target(${name}_plot COMMAND roofwalk plot ${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)

  # One process for all cases of a chapter: opening the course takes longer than a case.
  add_test(NAME correctness/${name} COMMAND chapter_tests --gtest_filter=${suite}/*
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})  # not the build folder, which has a chapters/ too
  set_tests_properties(correctness/${name} PROPERTIES
    LABELS "correctness-long;${name}" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  add_test(NAME dev_check/${name} COMMAND roofwalk dev check ${name} --quick WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(dev_check/${name} PROPERTIES LABELS "dev_check;${name}" ENVIRONMENT ROOFWALK_ROOT=${PROJECT_SOURCE_DIR})
  add_test(NAME dev_check/${name}/all COMMAND roofwalk dev check ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(dev_check/${name}/all PROPERTIES
    LABELS "dev_check-long;${name}" ENVIRONMENT ROOFWALK_ROOT=${PROJECT_SOURCE_DIR})
  # `test --all` also runs it on slices of other machines, a third of them each day: thirty chapters on all machines
  # would take hours. A handed-out tree has no tests/.
  if(EXISTS ${PROJECT_SOURCE_DIR}/tests)
    string(REGEX MATCH "^[0-9]+" place ${numbered})
    math(EXPR place "1${place} - 100")  # math takes a leading 0 for octal
    add_test(NAME dev_check/${name}/slices
      COMMAND ${PROJECT_SOURCE_DIR}/tests/setup/todays_slices.sh $<TARGET_FILE:roofwalk> ${name} ${place} ${chips}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(dev_check/${name}/slices PROPERTIES
      LABELS "dev_check-long" ENVIRONMENT ROOFWALK_ROOT=${PROJECT_SOURCE_DIR} COST 150 TIMEOUT 3600 SKIP_RETURN_CODE 4)
  endif()
endforeach()
add_custom_target(grade COMMAND roofwalk run --all WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
