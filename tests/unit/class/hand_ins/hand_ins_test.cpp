// Tests every layout in which platforms and people pack a class, with one student, two and 500. One student tries all
// attacks: no file may become another student's, no hand-in may hide another, and none may make the grader refuse the
// class.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/submissions.h"
#include "grader/course/course.h"
#include "tests/support/collecting.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::HasSubstr;

using test::kHandedIn;
using test::kLongBefore;

// A layout of a class: where a student's file is, and the student's name in the gradebook.
struct Shape {
  const char* name;
  bool zipped;
  bool owns_zip;       // each student's files are in a zip of their own
  bool is_plain_file;  // the instructor names one file per student; students add none
  std::string (*place)(int student, const std::string& file);
  std::string (*student)(int student);
  std::vector<ArchiveFile> (*platform)(int students);  // files that the platform adds
};

std::vector<ArchiveFile> nothing(int) { return {}; }

std::string gradescope_record(int number, const std::string& name, const std::string& email) {
  return fmt::format(
      "submission_{}:\n  :submitters:\n  - :name: {}\n    :email: {}\n  :created_at: 2026-09-21 14:13:20.0 Z\n", number,
      name, email);
}

std::vector<ArchiveFile> gradescope_metadata(int students) {
  std::string text = "---\n";
  for (int i = 0; i < students; ++i) text += gradescope_record(i, fmt::format("S{}", i), fmt::format("s{}@x.edu", i));
  return {{"assignment_12_export/submission_metadata.yml", text}};
}

std::string in_gradescope(int i, const std::string& file) {
  return fmt::format("assignment_12_export/submission_{}/{}", i, file);
}
std::string of_gradescope(int i) { return fmt::format("S{0} (s{0}@x.edu)", i); }
std::string in_canvas(int i, const std::string& file) { return fmt::format("s{}_{}_9{}_{}", i, 100 + i, i, file); }
std::string of_canvas(int i) { return fmt::format("s{} ({})", i, 100 + i); }
std::string in_quiz(int i, const std::string& file) {
  return fmt::format("s{}x{}_question_7_9{}_{}", i, 100 + i, i, file);
}
std::string of_quiz(int i) { return fmt::format("s{}x ({})", i, 100 + i); }
std::string in_moodle(int i, const std::string& file) {
  return fmt::format("S {}_{}_assignsubmission_file_/{}", i, 100 + i, file);
}
std::string in_flat_moodle(int i, const std::string& file) {
  return fmt::format("S {}_{}_assignsubmission_file_{}", i, 100 + i, file);
}
std::string of_moodle(int i) { return fmt::format("S {} ({})", i, 100 + i); }
std::string in_folder(int i, const std::string& file) { return fmt::format("s{}/{}", i, file); }
std::string in_flat(int i, const std::string& file) { return fmt::format("s{}_{}", i, file); }
std::string by_name(int i) { return fmt::format("s{}", i); }
std::string in_own_zip(int i, const std::string&) { return fmt::format("s{}.zip", i); }
std::string in_canvas_zip(int i, const std::string&) { return in_canvas(i, "work.zip"); }

const Shape kShapes[] = {
    {"GradescopeZip", true, false, false, in_gradescope, of_gradescope, gradescope_metadata},
    {"GradescopeFolder", false, false, false, in_gradescope, of_gradescope, gradescope_metadata},
    {"CanvasZip", true, false, false, in_canvas, of_canvas, nothing},
    {"CanvasFolder", false, false, false, in_canvas, of_canvas, nothing},
    {"CanvasZipOfZips", true, true, false, in_canvas_zip, of_canvas, nothing},
    {"CanvasQuizZip", true, false, false, in_quiz, of_quiz, nothing},
    {"MoodleZip", true, false, false, in_moodle, of_moodle, nothing},
    {"MoodleFolder", false, false, false, in_moodle, of_moodle, nothing},
    {"FlatMoodleZip", true, false, false, in_flat_moodle, of_moodle, nothing},
    {"PlainZip", true, false, false, in_folder, by_name, nothing},
    {"PlainFolder", false, false, false, in_folder, by_name, nothing},
    {"ZipOfZips", true, true, false, in_own_zip, by_name, nothing},
    {"FolderOfZips", false, true, false, in_own_zip, by_name, nothing},
    {"FlatZip", true, false, true, in_flat, by_name, nothing},
    {"FlatFolder", false, false, true, in_flat, by_name, nothing},
};

// One kind of trouble: files that student 0 adds to their own hand-in, and files that lie beside all hand-ins.
struct Trouble {
  const char* name;
  std::vector<ArchiveFile> (*own)();
  std::vector<ArchiveFile> (*beside)(const Shape& shape);
  const char* told;  // part of a message that is expected; empty: none is needed
};

std::vector<ArchiveFile> none() { return {}; }
std::vector<ArchiveFile> none_beside(const Shape&) { return {}; }

std::string zip_of(const std::vector<ArchiveFile>& files) {
  static const test::ScratchFolder folder;
  EXPECT_TRUE(write_archive(folder.path() / "made.zip", files));
  return file_text(folder.path() / "made.zip");
}

// Returns the files of a student's own zip: folders and files named the way each platform names other students', with a
// date of the student's choice.
std::vector<ArchiveFile> others_names() {
  return {{"S 1_101_assignsubmission_file_/vector-add.cu", "by 0, in 1's folder", false, kLongBefore},
          {"submission_1/vector-add.cu", "by 0, as 1's submission", false, kLongBefore},
          {"s1_101_91_vector-add.cu", "by 0, in 1's name", false, kLongBefore},
          {"s1/vector-add.cu", "by 0, as 1", false, kLongBefore},
          {"submission_metadata.yml", gradescope_record(0, "S1", "s1@x.edu"), false, kLongBefore},
          {"submission_metadata.json", R"({"created_at": "2020-01-01T00:00:00Z", "users": [{"name": "S1"}]})"}};
}

std::vector<ArchiveFile> a_nested_archive() {
  std::vector<ArchiveFile> files = others_names();
  files.push_back({"more.zip", zip_of(others_names()), false, kLongBefore});
  return {{"nested.zip", zip_of(files), false, kHandedIn}};
}

std::vector<ArchiveFile> stray_files(const Shape&) {
  return {{"vector-add.cu", "by nobody"}, {"README.txt", "by nobody"}, {"tiled-gemm.cu", "by nobody, too"}};
}

std::vector<ArchiveFile> ways_up(const Shape& shape) {
  if (!shape.zipped) return {};
  return {{"../vector-add.cu", "by nobody"},
          {"..\\tiled-gemm.cu", "by nobody"},
          {"x/../../vector-add.cu", "by nobody"},
          {shape.place(0, "../") + "/../" + shape.place(1, "vector-add.cu"), "by nobody"},
          {"../submission_metadata.yml", gradescope_record(0, "S1", "s1@x.edu")},
          {".\\submission_metadata.yml", gradescope_record(0, "S1", "s1@x.edu")}};
}

std::vector<ArchiveFile> backslashes() {
  return {{"a\\vector-add-2.cu", "by 0", false, kHandedIn},
          {"..\\..\\S 1_101_assignsubmission_file_\\vector-add-3.cu", "by 0, far up", false, kHandedIn}};
}

std::vector<ArchiveFile> one_huge() {
  std::vector<ArchiveFile> files;
  for (int i = 0; i < 100; ++i) files.push_back({fmt::format("junk{}.txt", i), "", false, kHandedIn});
  for (int i = 0; i < 15; ++i) {
    files.push_back({fmt::format("vector-add ({}).cu", i), fmt::format("by 0, {}", i), false, kHandedIn});
    files.push_back({fmt::format("nothing{}.cu", i), fmt::format("by 0, {}", i), false, kHandedIn});
  }
  return files;
}

// Names that tell another student where the platform does not name the file, and those of the platforms' metadata.
std::vector<ArchiveFile> names_of_others() {
  std::vector<ArchiveFile> files;
  for (const char* name : {"s1_101_91_vector-add.cu", "S 1_101_assignsubmission_file_vector-add.cu", "s1_vector-add.cu",
                           "submission_metadata.yml", "submission_metadata.json", "s1.zip"})
    files.push_back({name, fmt::format("by 0, {}", name), false, kHandedIn});
  return files;
}

// Names for shells, terminals, pages and paths; the same name in other letters, composed and decomposed.
std::vector<ArchiveFile> odd_names() {
  std::vector<ArchiveFile> files;
  for (const char* name : {"VECTOR-ADD.CU", "Vector-Add.Cu", "vector-add.cu.txt", "-o vector-add.cu", "vector-add\n.cu",
                           "$(touch x) vector-add.cu", "`x` 'y' \"vector-add.cu", "\u202evector-add.cu",
                           "v\u00e9ctor-add.cu", "ve\u0301ctor-add.cu", "<img src=x onerror=y>.cu", "=1+1.cu", ".cu"})
    files.push_back({name, fmt::format("by 0, {}", name), false, kHandedIn});
  files.push_back({std::string(200, 'x') + ".cu", "by 0, long", false, kHandedIn});
  return files;
}

const Trouble kTroubles[] = {{"None", none, none_beside, ""},
                             {"NestedArchives", a_nested_archive, none_beside, ""},
                             {"WaysUp", none, ways_up, ".."},
                             {"Backslashes", backslashes, none_beside, ""},
                             {"StrayFiles", none, stray_files, "vector-add.cu"},
                             {"OneHuge", one_huge, none_beside, "the 3 newest"},
                             {"NamesOfOthers", names_of_others, none_beside, "the 3 newest"},
                             {"OddNames", odd_names, none_beside, "the 3 newest"}};

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }
std::ostream& operator<<(std::ostream& out, const Trouble& trouble) { return out << trouble.name; }

class HandIns : public ::testing::TestWithParam<std::tuple<Shape, Trouble>> {
 protected:
  // Returns the files of a class, as in the zip or folder that is graded.
  static std::vector<ArchiveFile> class_of(const Shape& shape, int students, const Trouble& trouble) {
    std::vector<ArchiveFile> files = shape.platform(students);
    for (int i = 0; i < students; ++i) {
      std::vector<ArchiveFile> own = {{"vector-add.cu", fmt::format("by {}", i), false, kHandedIn}};
      if (i == 0 && !shape.is_plain_file) {
        for (ArchiveFile& more : trouble.own()) own.push_back(std::move(more));
      }
      if (shape.owns_zip) {
        files.push_back({shape.place(i, ""), zip_of(own), false, kHandedIn});
        continue;
      }
      for (ArchiveFile& one : own) {
        one.name = shape.place(i, one.name);
        files.push_back(std::move(one));
      }
    }
    for (ArchiveFile& more : trouble.beside(shape)) files.push_back(std::move(more));
    return files;
  }

  fs::path write(const Shape& shape, const std::vector<ArchiveFile>& files) const {
    const fs::path at = folder_.path() / (shape.zipped ? "class.zip" : "class");
    fs::remove_all(at);
    if (shape.zipped) {
      EXPECT_TRUE(write_archive(at, files));
      return at;
    }
    for (const ArchiveFile& file : files) {
      const fs::path path = folder_.write(fs::path("class") / file.name, file.bytes);
      const auto system_time = std::chrono::system_clock::from_time_t(static_cast<std::time_t>(file.written_at_s));
      fs::last_write_time(path, std::chrono::file_clock::from_sys(system_time));
    }
    return at;
  }

  Result<Handed> collect_all(const fs::path& path) {
    kept_.clear();
    return collect({path}, {{"vector-add", "tiled-gemm"}}, [this](const auto& sha256, const auto& bytes) {
      kept_[sha256] = bytes;
      return Status(kOk);
    });
  }

  void expect_just(const Shape& shape, int students, const Trouble& trouble) {
    SCOPED_TRACE(fmt::format("{}, {} students, {}", shape.name, students, trouble.name));
    const auto found = collect_all(write(shape, class_of(shape, students, trouble)));
    // If the only folder contains folders, or files that may be several people's, it may be a class or a student, so
    // the grader asks the instructor.
    if (!found && students == 1 && std::string_view(shape.name).starts_with("Plain")) {
      EXPECT_THAT(found.error().text(), HasSubstr("it is unclear whether that is the class or a student"));
      return;
    }
    ASSERT_TRUE(found) << found.error().text();
    const Handed& handed = *found;
    std::map<std::string, std::vector<std::string>> texts;
    for (const Submission& s : handed.submissions) {
      texts[s.owner.student].push_back(kept_.at(s.source_sha256));
      EXPECT_NEAR(static_cast<double>(s.submitted_at_s), kHandedIn, 2) << s.label;
    }
    std::set<std::string> known;
    for (const Owner& owner : handed.students) known.insert(owner.student);
    for (int i = 0; i < students; ++i) {
      const std::string student = shape.student(i), own = fmt::format("by {}", i);
      EXPECT_TRUE(known.contains(student)) << student;
      EXPECT_THAT(texts[student], Contains(own)) << student;
      for (const std::string& text : texts[student]) EXPECT_TRUE(text == own || text.starts_with(own + ",")) << text;
      EXPECT_LE(texts[student].size(), 3u);
    }
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(students));
    EXPECT_EQ(known.size(), static_cast<std::size_t>(students));
    std::string lines;
    for (const LeftOut& out : handed.left_out) lines += out.label + ": " + out.reason + "\n";
    const bool is_in_it = trouble.own == none ? !trouble.beside(shape).empty() : !shape.is_plain_file;
    if (is_in_it) {
      EXPECT_THAT(lines, HasSubstr(trouble.told));
    }
    EXPECT_LT(handed.left_out.size(), 20u) << lines;
  }

  const test::ScratchFolder folder_;
  std::map<std::string, std::string> kept_;
};

std::string name_of(const ::testing::TestParamInfo<std::tuple<Shape, Trouble>>& info) {
  return std::string(std::get<0>(info.param).name) + std::get<1>(info.param).name;
}

TEST_P(HandIns, AreWhoseTheyAre) {
  const auto& [shape, trouble] = GetParam();
  // Where nobody else is in a zip, a name that can be read in two ways has a row of its own (canvas_zips_test.cpp).
  const bool is_of_two = trouble.own == names_of_others;
  for (const int students : {1, 2}) {
    if (students == 2 || !is_of_two) expect_just(shape, students, trouble);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HandIns,
                         ::testing::Combine(::testing::ValuesIn(kShapes), ::testing::ValuesIn(kTroubles)), name_of);

class ManyHandIns : public HandIns {};

TEST_P(ManyHandIns, AreWhoseTheyAre) {
  const auto& [shape, trouble] = GetParam();
  expect_just(shape, 500, trouble);
}

INSTANTIATE_TEST_SUITE_P(LongShapes, ManyHandIns,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::Values(Trouble{"AllAtOnce", one_huge, stray_files,
                                                                      "holds 1 more"})),
                         name_of);

}  // namespace
}  // namespace roofwalk
