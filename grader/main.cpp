// roofwalk: the command line. Everything it does is in cmd/, one file a verb.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <thread>

#include "grader/cmd/verbs.h"

namespace {

using namespace roofwalk;

int complain(const Failure& failure) {
  std::fflush(stdout);
  std::fputs(fmt::format("roofwalk: {}\n", failure.error.text()).c_str(), stderr);
  return failure.exit_code;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--device", options.device, "virtual, virtual:MACHINE, virtual:FILE.toml, cuda:N or auto")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the inputs")->capture_default_str();
  app.add_option("--threads", options.threads, "threads to use; no figure depends on it")
      ->check(is_worker_count())
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--format", [&options](const std::string& format) { options.json = format == "json"; }, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
}

Error unknown_verb(const CLI::App& app, const std::string& typed) { return no_such_verb(typed, names_of_verbs(app)); }

// What CLI11 found wrong, in one line.
Error misuse(const CLI::App& app, const CLI::ParseError& error) {
  if (app.get_subcommands().empty()) {
    if (!app.remaining().empty()) return unknown_verb(app, app.remaining().front());
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      return {.message = "say what to do",
              .advice = "`./roofwalk next` is a good beginning, `./roofwalk --help` lists all"};
    }
    return {.message = error.what(), .advice = "`./roofwalk --help` lists what there is"};
  }
  const CLI::App* verb = app.get_subcommands().back();
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().back();
  const bool lacks_name = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                          std::string_view(error.what()).starts_with("name");  // the one name, or several
  if (lacks_name) {
    return {.message = fmt::format("`{}` needs the name of a chapter", verb->get_name()),
            .advice = "`./roofwalk list` shows them"};
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      std::string_view(error.what()).starts_with("path")) {
    return {.message = fmt::format("`{}` needs a path", verb->get_name()),
            .advice = "a file, a folder or a zip of what was handed in"};
  }
  std::string path = verb->get_name();
  for (const CLI::App* above = verb->get_parent(); above != nullptr && above != &app; above = above->get_parent()) {
    path = above->get_name() + " " + path;
  }
  return {.message = printable(error.what()),
          .advice = fmt::format("`./roofwalk {} --help` lists what it takes", path)};
}

int run_program(int argc, char** argv) {
  Session session(std::filesystem::current_path());
  session.options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int exit_code = kAccepted;
  CLI::App app("Make CUDA kernels fast and watch each attempt walk across a roofline.", "roofwalk");
  app.set_version_flag("--version", std::string("roofwalk ") + ROOFWALK_VERSION);
  app.require_subcommand(1);
  app.footer(
      "./roofwalk next says where to begin; ./roofwalk book makes a site of the book; ./roofwalk test proves that "
      "everything works.");
  app.fallthrough();  // `run NAME --format json` and `--format json run NAME` are the same
  add_options(app, session.options);
  for (const auto add : {add_list_command,          add_next_command,    add_run_command,      add_watch_command,
                         add_predict_command,       add_hint_command,    add_plot_command,     add_profile_command,
                         add_solution_command,      add_reset_command,   add_machines_command, add_roofs_command,
                         add_operations_command,    add_handout_command, add_grade_command,    add_grade_worker_command,
                         add_history_command,       add_report_command,  add_export_command,   add_doctor_command,
                         add_device_worker_command, add_dev_command,     add_help_command}) {
    add(app, session, exit_code);
  }
  for (CLI::App* verb : app.get_subcommands({})) {
    verb->footer("Every verb takes --device, --seed, --threads and --format text|json as well: ./roofwalk --help.");
  }
  std::filesystem::current_path(find_root());  // paths in messages are short, and the same wherever one stands
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    throw Failure{misuse(app, error), kUsage};
  }
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
  // Where the disk is full nobody should take silence for success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    exit_code = complain({{.message = "the output could not be written"}, kOurFault});
  }
  return exit_code;
}
