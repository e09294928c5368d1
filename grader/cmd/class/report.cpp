// roofwalk report: makes the pages of a class again from its grades, once or whenever these change.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/class/results.h"
#include "grader/cmd/class/report_command.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int report_class(Session& session, const ReportCommand& command) {
  if (command.watches) return watch_report(session, command);
  Batch batch = graded_class(session, command.places);
  const Gradebook book = value_or_fail(batch.gradebook());
  value_or_fail(write_tables(batch, book));
  const auto page = value_or_fail(write_site(batch, session.measured_bench(), book, command.names));
  if (const std::string stale = stale_text(book, grade_command(command.places)); !stale.empty()) tell(stale);
  const std::string shown = session.from_caller(page).string(),
                    names = session.from_caller(batch.folder() / "report-names.csv").string();
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.report/1"}, {"page", shown}, {"names", names}});
  } else {
    print(command.names ? shown + "\n" : fmt::format("{}\n{} says whose page is whose\n", shown, names));
  }
  return kAccepted;
}

void add_report_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<ReportCommand>();
  Verb command = program.add_subcommand("report", "Write a graded class's results as pages");
  add_class_options(command, options->places);
  add_secrets_option(command, options->places);
  command.add_flag("--names", options->names,
                   "with the students' names and links to their pages, in a folder of its own: report-with-names");
  command.add_flag("--watch", options->watches,
                   "keep the pages fresh while grades come in, until Ctrl-C; they load themselves again");
  command.callback([options, &session, &exit_code] { exit_code = report_class(session, *options); });
}

ROOFWALK_VERB(170, add_report_command);

}  // namespace

}  // namespace roofwalk
