#include "common/sandbox/compile_box.h"

#include <cstdlib>

namespace roofwalk {
namespace {

// Whether a toolkit was installed into a folder that others share, such as /usr of some distributions, or a home with
// a bin/nvcc in it: course material may lie there.
bool holds_more_than_toolkit(const std::filesystem::path& root) {
  const char* const home = std::getenv("HOME");
  return std::filesystem::is_directory(root / "share") || (home != nullptr && root == home);
}

}  // namespace

Box compile_box(const std::filesystem::path& toolkit) {
  std::error_code error;
  std::filesystem::path root = std::filesystem::canonical(toolkit, error);
  if (error) root = toolkit;
  Box box;
  for (const char* folder : {"/usr/bin", "/usr/include", "/usr/lib"}) box.mounts.push_back({folder, folder});
  // Not every system has all of these: more libraries, GCC's internal programs (libexec), the targets of links such as
  // /usr/bin/cc (alternatives), and the loader's cache.
  for (const char* folder :
       {"/usr/lib64", "/usr/libexec", "/usr/lib32", "/usr/libx32", "/etc/alternatives", "/etc/ld.so.cache"}) {
    box.mounts.push_back({folder, folder, /*may_be_absent=*/true});
  }
  if (holds_more_than_toolkit(root)) {
    for (const char* folder : {"bin", "include", "lib", "lib64", "libexec", "nvvm", "targets"}) {
      box.mounts.push_back({root / folder, std::string(kBoxToolkit) + "/" + folder, /*may_be_absent=*/true});
    }
  } else {
    box.mounts.push_back({root, kBoxToolkit});
  }
  box.links = {{"/bin", "usr/bin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}};
  box.environment = {{"PATH", std::string(kBoxToolkit) + "/bin:/usr/bin:/bin"},
                     {"HOME", kBoxFolder},
                     {"TMPDIR", "/tmp"},
                     {"LC_ALL", "C"},
                     {"SOURCE_DATE_EPOCH", "0"}};
  box.limits = kCompileLimits;
  return box;
}

}  // namespace roofwalk
