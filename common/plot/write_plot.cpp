#include <fstream>
#include <iterator>
#include <system_error>

#include "common/base/subprocess.h"
#include "common/plot/dark.h"
#include "common/plot/plot.h"

namespace roofwalk {
namespace {

Status write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error{.message = "cannot write " + path.string(), .advice = "is the folder yours, the disk full?"};
  return kOk;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the last non-empty line: gnuplot repeats the faulty line of the script, then names the error.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text.empty() ? "no message" : text.substr(text.rfind('\n') + 1);
}

}  // namespace

Status write_plot(const Chart& chart, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending != ".svg" && ending != ".png") {
    return Error{.message = "cannot draw " + path.string(), .advice = "the name must end in .svg or .png"};
  }
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  std::filesystem::path script = path;
  script.replace_extension(".gp");
  ROOFWALK_TRY_STATUS(write_text(script, gnuplot_script(chart, path, ending == ".svg" ? "svg" : "pngcairo")));
  std::filesystem::remove(path, failed);

  // -d ignores the user's gnuplot settings, so that the chart is always the same.
  const Command command{.arguments = {"gnuplot", "-d", "./" + script.filename().string()},
                        .working_directory = path.parent_path(),
                        .timeout_s = 30};
  const auto run = run_command(command);
  if (!run || run->exit_code == 127) {
    return Error{.message = "gnuplot was not found, so no chart was drawn",
                 .advice = "install the package gnuplot-nox; the script is ready in " + script.string()};
  }
  if (run->timed_out) return Error{.message = "gnuplot did not finish within 30 s", .file = script.string()};
  if (run->exit_code != 0) {
    return Error{.message = "gnuplot failed: " + last_line(run->output), .file = script.string()};
  }
  if (!std::filesystem::exists(path) || std::filesystem::file_size(path, failed) == 0) {
    return Error{.message = "gnuplot drew nothing: " + last_line(run->output), .file = script.string()};
  }
  return ending == ".svg" ? write_text(path, with_dark_scheme(read_text(path))) : kOk;
}

}  // namespace roofwalk
