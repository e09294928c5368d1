// A fixture for tests that collect hand-ins, with a folder that is deleted after the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/submissions.h"
#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {

// Seconds since 1970: the time when the class hands in, and an early date that a student may have forged.
inline constexpr std::int64_t kHandedIn = 1'790'000'000, kLongBefore = 1'600'000'000;

class Collecting : public ::testing::Test {
 protected:
  Result<Handed> try_all(const std::vector<std::filesystem::path>& paths,
                         const Wanted& wanted = {{"vector-add", "tiled-gemm"}}) {
    return collect(paths, wanted, [this](const std::string& sha256, const std::string& bytes) -> Status {
      kept_[sha256] = bytes;
      return kOk;
    });
  }
  Handed collect_all(const std::vector<std::filesystem::path>& paths,
                     const Wanted& wanted = {{"vector-add", "tiled-gemm"}}) {
    auto handed = try_all(paths, wanted);
    EXPECT_TRUE(handed) << handed.error().text();
    return handed ? *handed : Handed{};
  }
  Handed collect_all(const std::filesystem::path& path, const Wanted& wanted = {{"vector-add", "tiled-gemm"}}) {
    return collect_all(std::vector{path}, wanted);
  }
  // Returns a line "student chapter label" for each submission.
  static std::vector<std::string> lines(const Handed& handed) {
    std::vector<std::string> all;
    for (const Submission& s : handed.submissions) all.push_back(s.owner.student + " " + s.chapter + " " + s.label);
    return all;
  }
  static std::vector<std::string> left_out(const Handed& handed) {
    std::vector<std::string> all;
    for (const LeftOut& out : handed.left_out) all.push_back(out.label + ": " + out.reason);
    return all;
  }
  static std::vector<std::string> students(const Handed& handed) {
    std::vector<std::string> all;
    for (const Owner& owner : handed.students) all.push_back(owner.student);
    return all;
  }
  std::string zip_of(const std::vector<ArchiveFile>& files) {
    const std::filesystem::path file = folder_.path() / "made.zip";
    EXPECT_TRUE(write_archive(file, files));
    std::string bytes = file_text(file);
    std::filesystem::remove(file);
    return bytes;
  }

  const ScratchFolder folder_;
  std::map<std::string, std::string> kept_;
};

}  // namespace roofwalk::test
