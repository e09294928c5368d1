// roofwalk profile [NAME]: shows the work of each line of the kernel, and which line to look at.
#include "grader/profile/profile.h"
#include "common/base/json.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "common/base/hash.h"
#include "grader/cmd/verbs.h"
#include "grader/profile/compare.h"
#include "grader/profile/profile_html.h"
#include "grader/profile/profile_text.h"
#include "grader/terminal/measuring_spinner.h"
#include "grader/terminal/report.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct ProfileCommand {
  std::string name;
  std::string kernel;
  std::string against;
  bool html = false;
};

fs::path existing_file(const Session& session, const std::string& typed) {
  const fs::path file = session.from_caller(typed);
  if (!fs::is_regular_file(file)) throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
  return file;
}

// "starter" means the chapter's starter, unless a file has that name.
fs::path other_file(const Session& session, const Chapter& chapter, const std::string& typed) {
  if (typed == "starter" && !fs::exists(session.from_caller(typed))) return chapter.starter();
  return existing_file(session, typed);
}

// Measures a file without adding it to the walk.
Outcome measured(Session& session, const Chapter& chapter, const fs::path& file) {
  const MeasuringSpinner patience(session.while_waiting,
                                  fmt::format("measuring {} on {}", file.string(), session.rig().machine.name));
  return session.check(chapter, file, /*joins=*/false);
}

Profile profile_of_file(Outcome& outcome, const fs::path& file) {
  const std::string source = file_text(file);
  Attempt& attempt = outcome.attempt;
  if (attempt.measurement && sha256_hex(source) != attempt.source_sha256) {
    throw Failure{{.message = "changed while it was measured", .file = file.string(), .advice = "run again"},
                  kNotAccepted};
  }
  return profile_of(std::move(attempt), source);
}

// A file's stem for use in a page's name: letters, digits, "-" and "_".
std::string plain_stem(const std::string& file) {
  std::string stem = fs::path(file).stem().string();
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  return stem;
}

// "-profile.html", with the names of other files added: "-profile-step1-against-mine.html".
std::string page_ending(const ProfileCommand& command) {
  std::string ending = "-profile";
  if (!command.kernel.empty()) ending += "-" + plain_stem(command.kernel);
  if (!command.against.empty()) ending += "-against-" + plain_stem(command.against);
  return ending + ".html";
}

std::string write_page(Session& session, const Chapter& chapter, const ProfileCommand& command,
                       const std::string& html) {
  const fs::path path = session.rig().picture(chapter.name, page_ending(command));
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out << html;
  if (!out.flush()) throw Failure{{fmt::format("{} could not be written", path.string())}, kOurFault};
  return path.string();
}

std::size_t columns_of_terminal() {
  constexpr int kFewest = 60, kMost = 240;
  return static_cast<std::size_t>(std::clamp(terminal_size().columns, kFewest, kMost));
}

// Prints the card of a kernel that has no figures, and so no profile; the card gives the reason.
int not_measured(const Session& session, Outcome outcome, const Profile& profile) {
  if (session.options.json) {
    print_json(to_json(profile));
  } else {
    outcome.attempt = profile.attempt;
    print(report(outcome.attempt, outcome.news, colors_for(session.options),
                 static_cast<std::size_t>(terminal_size().columns)));
  }
  return kNotAccepted;
}

int profile(Session& session, const ProfileCommand& command) {
  if (session.rig().is_real()) {
    throw Failure{
        {.message = "a GPU counts nothing by source line",
         .advice = "`./roofwalk machines` lists what `--device virtual:MACHINE` can play: it counts them all"},
        kUsage};
  }
  if (command.name.find('/') != std::string::npos) {
    throw Failure{{.message = fmt::format("{} is no chapter", printable(command.name)),
                   .advice = "a program of your own comes after `--`: ./roofwalk profile -- ./app"},
                  kUsage};
  }
  const Chapter& chapter = session.chapter_or_next(command.name);
  fs::path file = session.course().my_file(chapter);
  const fs::path against = command.against.empty() ? fs::path() : other_file(session, chapter, command.against);
  if (command.kernel.empty()) {
    session.provide_file(chapter);
    session.predict_first(chapter);
  } else {
    file = existing_file(session, command.kernel);
  }
  Outcome outcome = measured(session, chapter, file);
  const Profile now = profile_of_file(outcome, file);
  if (!now.is_measured()) return not_measured(session, std::move(outcome), now);

  std::optional<Profile> was;
  if (!against.empty()) {
    Outcome other = measured(session, chapter, against);
    was = profile_of_file(other, against);
    if (!was->is_measured()) {
      const Judgement& judgement = was->attempt.judgement;
      const std::string reason = judgement.reasons.empty() ? "" : judgement.reasons.front();
      throw Failure{{.message = fmt::format("{} has no figures to compare with: {}{}{}", printable(against.string()),
                                            verdict_name(judgement.verdict), reason.empty() ? "" : ": ",
                                            printable(reason.substr(0, reason.find('\n'))))},
                    kNotAccepted};
    }
  }
  const std::string page =
      command.html ? write_page(session, chapter, command, was ? comparison_page(*was, now) : profile_page(now)) : "";
  if (session.options.json) {
    Json json = was ? to_json(*was, now) : to_json(now);
    if (!page.empty()) json["page"] = page;
    print_json(json);
    return kAccepted;
  }
  const Colors colors = colors_for(session.options);
  const std::size_t columns = columns_of_terminal();
  print(was ? comparison_text(*was, now, columns, colors) : profile_text(now, columns, colors));
  if (!page.empty()) print(fmt::format("page: {}\n", printable(page)));
  return kAccepted;
}

void add_profile_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<ProfileCommand>();
  Verb command = program.add_subcommand("profile", "Show what each line of your kernel did, and which one to look at");
  command.add_option("name", options->name, "chapter; default: the next one that is not passed");
  command.add_option("--kernel", options->kernel, "profile this file instead of my/NAME.cu");
  command.add_option("--against", options->against,
                     "show this file's figures beside those of your kernel; 'starter': those you began with");
  command.add_flag("--html", options->html, "write a page to open in a browser, too");
  command.add_flag("--no-ask", session.options.no_ask, "do not ask for a prediction");
  command.callback([options, &session, &exit_code] { exit_code = profile(session, *options); });
}

ROOFWALK_VERB(80, add_profile_command);

}  // namespace

}  // namespace roofwalk
