#include "tests/batch/class_generator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "common/base/rng.h"
#include "grader/class/hand_ins/archive.h"
#include "grader/course/course.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// Returns a name as learners and platforms write them.
std::string name_of(std::size_t i) {
  const std::vector<std::string> odd = {"Ada Lovelace",
                                        "O'Hara, \"Scarlett\"",
                                        "$(touch pwned)",
                                        "`touch pwned`",
                                        "a;touch pwned",
                                        "\xc3\x85ngstr\xc3\xb6m",
                                        "\xe6\x9d\x8e \xe5\xb0\x8f\xe9\xbe\x99",
                                        "-rf",
                                        "..hidden",
                                        "=1+1",
                                        "semi;colon",
                                        "<script>alert(1)</script>",
                                        "tab\tname",
                                        "new\nline",
                                        "\xff\xfe broken",
                                        "%s%n",
                                        "a&b",
                                        "\xf0\x9f\x98\x80"};
  return i < odd.size() ? odd[i] : fmt::format("student{:03}", i);
}

// Adds a comment with a number, so that files with the same code differ in their bytes.
std::string with_comment(const std::string& source, std::uint64_t number) {
  return fmt::format("// {}\n", number) + source;
}

class Maker {
 public:
  Maker(const fs::path& source, const ClassWanted& wanted) : source_(source), wanted_(wanted), rng_(wanted.seed) {
    for (const char* folder : {"solutions/01-vector-add", "solutions/02-naive-gemm"}) {
      for (const auto& entry : fs::directory_iterator(source / folder)) right_.push_back(entry.path());
    }
    for (const char* folder : {"tests/grader/wrong/01-vector-add", "tests/grader/wrong/02-naive-gemm"}) {
      for (const auto& entry : fs::directory_iterator(source / folder)) {
        if (entry.path().extension() == ".cu") wrong_.push_back(entry.path());  // not a patch
      }
    }
    std::sort(right_.begin(), right_.end());
    std::sort(wrong_.begin(), wrong_.end());
  }

  void student(const fs::path& folder, std::size_t i) {
    const fs::path home = folder / name_of(i);
    const auto kind = i < 12 ? i : rng_.next() % 12;
    switch (kind) {
      case 0:  // the unchanged starter
        return write(home / "vector-add.cu", file_text(source_ / "chapters/01-vector-add/kernel.cu"));
      case 1:  // a duplicate: all learners of this kind hand in the same bytes
        return write(home / "vector-add.cu", file_text(right_.front()));
      case 2:
        return wrong(home);
      case 3:
        return write(home / "vector-add.cu", std::string(wanted_.bytes_of_large, 'x'));
      case 4:  // a zip with a path that leads out of its folder
        fs::create_directories(folder);
        made(write_archive(folder / (name_of(i) + ".zip"),
                           {{"../../etc/vector-add.cu", own(right_.front())}, {"notes.txt", "hello"}}));
        return;
      case 5:
        fs::create_directories(home);
        fs::create_symlink("/etc/passwd", home / "vector-add.cu");
        return;
      case 6:
        fs::create_directories(home);
        ::mkfifo((home / "vector-add.cu").c_str(), 0644);
        return;
      case 7:
        return hostile(home);
      case 8:
        return fs::create_directories(home), void();
      case 9:  // several attempts by one learner
        write(home / "vector-add.cu", file_text(source_ / "chapters/01-vector-add/kernel.cu"));
        return write(home / "later" / "vector-add.cu", own(right_.front()));
      default:
        return right(home);
    }
  }

 private:
  std::string own(const fs::path& file) { return with_comment(file_text(file), rng_.next()); }

  static void made(const Status& status) {
    if (!status) throw std::runtime_error(status.error().text());
  }

  static std::string chapter_of(const fs::path& file) { return file.parent_path().filename().string().substr(3); }

  void right(const fs::path& home) {
    const fs::path& file = right_[rng_.next() % right_.size()];
    write(home / (chapter_of(file) + ".cu"), own(file));
  }

  void wrong(const fs::path& home) {
    const fs::path& file = wrong_[rng_.next() % wrong_.size()];
    write(home / (chapter_of(file) + ".cu"), own(file));
  }

  void hostile(const fs::path& home) {
    const std::string kernel = file_text(right_.front());
    const std::vector<std::string> texts = {
        "",                                                 // empty
        std::string("\0\x01\x02 binary", 10),               // not text
        "#include \"/etc/passwd\"\n" + kernel,              // reads a file into the diagnostics
        "#include __FILE__\n#include __FILE__\n" + kernel,  // includes itself
        "#error \"\033[32mPASS 10/10\033[0m\"\n" + kernel,  // forges a verdict
        "__global__ void f() {}\nSOLVE(const float* a, const float* b, float* c, int n) { for (;;) f<<<1, 1>>>(); }\n",
        "#include <roofwalk.cuh>\nSOLVE(const float* a, const float* b, float* c, int n) { for (;;) {} }\n",
        "#include <roofwalk.cuh>\n__global__ void f(float* c) { while (true) c[0] += 1; }\n"
        "SOLVE(const float* a, const float* b, float* c, int n) { f<<<1, 32>>>(c); }\n",
        "#include <roofwalk.cuh>\n__global__ void f(float* c) { c[1ll << 40] = 1; }\n"
        "SOLVE(const float* a, const float* b, float* c, int n) { f<<<1, 32>>>(c); }\n",
        "#include <roofwalk.cuh>\ntemplate <int N> struct T { T<N - 1> a, b; };\ntemplate <> struct T<0> { int x; };\n"
        "T<25> t;\nSOLVE(const float* a, const float* b, float* c, int n) {}\n"};
    write(home / "vector-add.cu", texts[rng_.next() % texts.size()]);
  }

  const fs::path source_;
  const ClassWanted wanted_;
  Rng rng_;
  std::vector<fs::path> right_, wrong_;
};

}  // namespace

void make_class(const fs::path& folder, const fs::path& source, const ClassWanted& wanted) {
  Maker maker(source, wanted);
  for (std::size_t i = 0; i < wanted.students; ++i) maker.student(folder / "submissions", i);
  write(folder / "secrets.toml", "seeds = [7203685477580]\n[sizes.vector-add]\nn = [4099, 77]\n");
  write(folder / "course.toml",
        "title = \"A class\"\nsecrets = \"secrets.toml\"\n[[chapter]]\nname = \"vector-add\"\npoints = 10\n"
        "[[chapter]]\nname = \"naive-gemm\"\npoints = 20\n");
  // All files get the same time of submission, so that grades do not depend on when the test runs.
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const timespec times[] = {{1700000000, 0}, {1700000000, 0}};
    ::utimensat(AT_FDCWD, entry.path().c_str(), times, AT_SYMLINK_NOFOLLOW);
  }
}

}  // namespace roofwalk::test
