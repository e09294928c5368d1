// Compares a text with a file; ROOFWALK_REWRITE=1 in the environment rewrites the file instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace roofwalk::testing {

inline void expect_golden(const std::filesystem::path& file, const std::string& actual) {
  if (std::getenv("ROOFWALK_REWRITE") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << actual;
  }
  std::ifstream in(file);
  ASSERT_TRUE(in) << file << " is missing; run again with ROOFWALK_REWRITE=1 and read what it holds";
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), actual) << file;
}

}  // namespace roofwalk::testing
