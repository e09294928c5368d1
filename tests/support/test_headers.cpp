// A source for CMake to compile the tests' precompiled headers with (tests/CMakeLists.txt).
