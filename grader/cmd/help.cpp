// roofwalk help [VERB]: what `roofwalk --help` and `roofwalk VERB --help` show.
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/cmd/verbs.h"
#include "grader/text.h"

namespace roofwalk {
namespace {

std::string help(const CLI::App& app, const std::string& typed) {
  // app.help() would tell of the verb that runs: of this one.
  if (typed.empty()) return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == typed) return verb->help(app.get_name());
  }
  throw Failure{no_such_verb(typed, names_of_verbs(app)), kUsage};
}

}  // namespace

CLI::Validator is_worker_count() {
  const int most = 256;
  const auto check = [most](std::string& typed) {
    int count = 0;
    const auto [end, problem] = std::from_chars(typed.data(), typed.data() + typed.size(), count);
    const bool is_number = problem == std::errc{} && end == typed.data() + typed.size();
    return is_number && count >= 1 && count <= most
               ? std::string{}
               : fmt::format("`{}` is not a whole number from 1 to {}", printable(typed), most);
  };
  return CLI::Validator(check, fmt::format("INT in [1 - {}]", most));
}

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

Error no_such_verb(const std::string& typed, const std::vector<std::string>& verbs) {
  const auto near = near_names(typed, verbs);
  return {.message = fmt::format("there is no verb `{}`", printable(typed)),
          .advice = near.empty() ? fmt::format("the verbs are: {}", fmt::join(verbs, ", "))
                                 : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

void add_help_command(CLI::App& app, Session&, int& exit_code) {
  auto verb = std::make_shared<std::string>();
  auto* command = app.add_subcommand("help", "Show this, or what a verb takes");
  command->add_option("verb", *verb, "such as run");
  command->callback([verb, &app, &exit_code] {
    print(help(app, *verb));
    exit_code = kAccepted;
  });
}

}  // namespace roofwalk
