// roofwalk: the command line. Its verbs are in cmd/, one file each.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <thread>

#include "grader/cmd/verbs.h"
#include "grader/text/text.h"

namespace {

using namespace roofwalk;

// Prints a failure's message to stderr. Goes through printable(), because a message may contain a file name that a
// learner chose, with escape sequences in it.
int complain(const Failure& failure) {
  std::fflush(stdout);
  std::string text = "roofwalk: ";
  std::istringstream in(failure.error.text());
  for (std::string line; std::getline(in, line);) text += printable(line) + "\n";
  std::fputs(text.c_str(), stderr);
  return failure.exit_code;
}

void add_options(Verb& program, Options& options) {
  program
      .add_option("--device", options.device,
                  "virtual, virtual:MACHINE, virtual:MACHINE/SMS, virtual:FILE.toml, cuda:N or auto")
      .shows_default();
  program.add_option("--seed", options.seed, "seed of the inputs").shows_default();
  program.add_option("--threads", options.threads, "threads to use; no figure depends on it")
      .worker_count()
      .shows_default();
  const auto take_format = [&options](const std::string& format) { options.json = format == "json"; };
  program.add_option_function("--format", take_format, "text or json").one_of({"text", "json"});
}

// Refuses an option that is also the name of a file in the caller's folder: in a folder that others can write to, the
// shell may have put that name in place of a `*`.
void refuse_files_as_options(const Session& session, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::error_code error;
    if (argument == "--") return;
    if (argument.size() < 2 || argument.front() != '-') continue;
    if (!std::filesystem::exists(std::filesystem::symlink_status(session.from_caller(argument), error))) continue;
    throw Failure{{.message = fmt::format("`{}` is also the name of a file here, so the shell may have put it in place "
                                          "of a `*`",
                                          argument),
                   .advice = "write ./* in place of *, or rename the file"},
                  kUsage};
  }
}

int run_program(int argc, char** argv) {
  Session session(std::filesystem::current_path());
  session.options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int exit_code = kAccepted;
  CommandLine line;
  Verb program = line.program();
  add_options(program, session.options);
  add_verbs(program, session, exit_code);
  add_help_command(program, session, line, exit_code);
  std::filesystem::current_path(find_root());  // keeps paths in messages short, for any working directory
  refuse_files_as_options(session, argc, argv);
  if (const auto asked = line.parse(argc, argv)) return *asked;
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = kOurFault;
  try {
    exit_code = run_program(argc, argv);
  } catch (const Failure& failure) {
    exit_code = complain(failure);
  } catch (const std::exception& error) {
    exit_code = complain({{.message = error.what()}, kOurFault});
  }
  // A full disk must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    exit_code = complain({{.message = "the output could not be written"}, kOurFault});
  }
  return exit_code;
}
