// roofwalk: the command line. Everything it does is in cmd/, one file a verb.
#include <fmt/format.h>
#include <fmt/ranges.h>

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
  app.add_option("--device", options.device, "virtual, virtual:MACHINE, virtual:FILE.toml or auto")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the inputs")->capture_default_str();
  app.add_option("--threads", options.threads, "threads to use; no figure depends on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--format", [&options](const std::string& format) { options.json = format == "json"; }, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
}

Error unknown_verb(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  const auto near = near_names(typed, verbs);
  return {.message = fmt::format("there is no verb `{}`", printable(typed)),
          .advice = near.empty() ? fmt::format("the verbs are: {}", fmt::join(verbs, ", "))
                                 : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

int run_program(int argc, char** argv) {
  Session session(std::filesystem::current_path());
  session.options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int exit_code = kAccepted;
  CLI::App app("Make CUDA kernels fast and watch each attempt walk across a roofline.", "roofwalk");
  app.set_version_flag("--version", std::string("roofwalk ") + ROOFWALK_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // `run NAME --format json` and `--format json run NAME` are the same
  add_options(app, session.options);
  for (const auto add :
       {add_list_command, add_next_command, add_run_command, add_plot_command, add_hint_command, add_reset_command,
        add_machines_command, add_roofs_command, add_operations_command, add_doctor_command, add_dev_command}) {
    add(app, session, exit_code);
  }
  std::filesystem::current_path(find_root());  // paths in messages are short, and the same wherever one stands
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.get_subcommands().empty() && !app.remaining().empty()) {
      throw Failure{unknown_verb(app, app.remaining().front()), kUsage};
    }
    return app.exit(error) == 0 ? kAccepted : kUsage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const Failure& failure) {
    return complain(failure);
  } catch (const std::exception& error) {
    return complain({{.message = error.what()}, kOurFault});
  }
}
