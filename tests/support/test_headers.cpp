// Gives CMake a source to compile the precompiled headers of the tests with (tests/CMakeLists.txt).
