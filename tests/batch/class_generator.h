// Makes a class of submissions from a seed: right, wrong, slow, crashing and hostile ones, duplicates, odd names, files
// of 10 MB, zips, links and pipes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace roofwalk::test {

struct ClassWanted {
  std::size_t students = 10;
  std::uint64_t seed = 1;
  std::size_t bytes_of_large = 10u << 20;  // size of a file that is far too large
};

// Writes `folder`/submissions, `folder`/course.toml and `folder`/secrets.toml; `source` is the checkout.
void make_class(const std::filesystem::path& folder, const std::filesystem::path& source, const ClassWanted& wanted);

}  // namespace roofwalk::test
