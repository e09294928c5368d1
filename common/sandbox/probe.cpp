#include "common/sandbox/probe.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/subprocess.h"
#include "common/sandbox/box.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr double kTrialSeconds = 10;

std::optional<long> number_in(const char* file) {
  std::ifstream in(file);
  long value = 0;
  return in >> value ? std::optional<long>(value) : std::nullopt;
}

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// Collects all facts except whether a box works.
BoxFacts facts_without_trial() {
  BoxFacts facts;
  const auto version = run_command({.arguments = {"bwrap", "--version"}, .timeout_s = 10, .max_output_bytes = 256});
  if (version && version->exit_code == 0) facts.bubblewrap = version->output.substr(0, version->output.find('\n'));
  facts.user_namespaces = number_in("/proc/sys/user/max_user_namespaces");
  if (const auto open = number_in("/proc/sys/kernel/unprivileged_userns_clone")) facts.namespaces_for_root = *open == 0;
  if (const auto on = number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")) {
    facts.apparmor_restricts = *on != 0;
  }
  facts.container = container_around();
  facts.is_root = ::geteuid() == 0;
  return facts;
}

// Whether the version is below 0.8, the first release that can prevent a box from creating namespaces.
bool is_too_old(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "bubblewrap %d.%d", &major, &minor) != 2) return false;
  return major == 0 && minor < 8;
}

std::vector<std::string> remedy_for(const BoxFacts& facts) {
  if (facts.bubblewrap.empty()) return {"before you grade others:", "$ sudo apt-get install bubblewrap"};
  if (is_too_old(facts.bubblewrap)) return {"0.8 or later is needed: Debian 12 and Ubuntu 24.04 have it"};
  if (facts.apparmor_restricts.value_or(false)) {
    return {"Ubuntu's AppArmor forbids it; an administrator allows bubblewrap alone:",
            "$ sudo apt install apparmor-profiles apparmor-utils",
            "$ cd /usr/share/apparmor/extra-profiles",
            "$ sudo cp bwrap-userns-restrict /etc/apparmor.d/",
            "$ cd /etc/apparmor.d",
            "$ sudo apparmor_parser -r bwrap-userns-restrict"};
  }
  if (facts.namespaces_for_root.value_or(false)) {
    return {"user namespaces are kept for root; an administrator opens them:",
            "$ sudo sysctl kernel.unprivileged_userns_clone=1"};
  }
  if (facts.user_namespaces == 0) {
    return {"user namespaces are switched off; an administrator allows some:",
            "$ sudo sysctl user.max_user_namespaces=10000"};
  }
  if (!facts.container.empty()) {
    return {"containers forbid a sandbox inside them: grade on the host, or start the container with",
            "--security-opt seccomp=unconfined --security-opt systempaths=unconfined and, where the host has",
            "AppArmor, --security-opt apparmor=unconfined"};
  }
  return {"ask an administrator to allow user namespaces for bubblewrap"};
}

// Returns the Error for machines where boxes do not work: one line, including commands.
Error trouble_of(const BoxFacts& facts) {
  const BoxProbe probe = judge_boxes(facts);
  Error error{.message = probe.what};
  for (const std::string& line : probe.remedy) {
    const bool is_command = line.starts_with("$ ");
    const bool goes_on = error.advice.empty() || error.advice.ends_with(':') || !is_command;
    error.advice += error.advice.empty() ? "" : goes_on ? " " : "; ";
    error.advice += is_command ? line.substr(2) : line;
  }
  return error;
}

}  // namespace

std::string container_around() {
  if (fs::exists("/run/.containerenv")) return "podman";
  if (fs::exists("/.dockerenv")) return "docker";
  if (const char* host = std::getenv("KUBERNETES_SERVICE_HOST"); host != nullptr && *host != '\0') return "kubernetes";
  std::ifstream in("/run/systemd/container");
  std::string name;
  std::getline(in, name);
  return name;
}

BoxFacts box_facts() {
  BoxFacts facts = facts_without_trial();
  if (facts.bubblewrap.empty()) return facts;
  Box box;
  for (const char* folder : {"/usr/bin", "/usr/lib"}) box.mounts.push_back({folder, folder});
  box.mounts.push_back({"/usr/lib64", "/usr/lib64", /*may_be_absent=*/true});
  box.links = {{"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}};
  box.shows_processes = true;
  auto start = prepare_box(box, {"/usr/bin/true"});
  if (!start) {
    facts.works = false;
    facts.trouble = start.error().message;
    return facts;
  }
  const auto run = run_command({.arguments = start->arguments,
                                .working_directory = "/",
                                .timeout_s = kTrialSeconds,
                                .passed = start->passed,
                                .run_as = start->run_as,
                                .group_line = start->guard->line()});
  BoxStatus(std::move(start->status)).wait_until_gone(kTrialSeconds);
  facts.works = run.ok() && run->exit_code == 0;
  facts.trouble = run ? last_line(run->output) : run.error().message;
  return facts;
}

BoxProbe judge_boxes(const BoxFacts& facts) {
  if (facts.works.value_or(false) && !facts.bubblewrap.empty()) {
    return {true, facts.bubblewrap + " can sandbox other people's code", {}};
  }
  BoxProbe probe;
  if (facts.bubblewrap.empty()) {
    probe.what = "bubblewrap, which sandboxes other people's code, is not installed";
  } else if (is_too_old(facts.bubblewrap)) {
    probe.what = facts.bubblewrap + " is too old";
  } else {
    probe.what = fmt::format("{} cannot make a sandbox: {}", facts.bubblewrap,
                             facts.trouble.empty() ? "it gave no reason" : facts.trouble);
  }
  probe.remedy = remedy_for(facts);
  return probe;
}

Error box_trouble(const std::string& log) {
  BoxFacts facts = facts_without_trial();
  facts.works = false;
  facts.trouble = last_line(log);
  return trouble_of(facts);
}

Status require_reach(const fs::path& folder, const std::string& what) {
  const std::optional<UserId> who = box_user();
  if (!who) return kOk;
  std::error_code error;
  const fs::path full = fs::canonical(folder, error);
  if (error) return Error{.message = what + " is not there", .file = folder.string()};
  fs::path above;
  for (const fs::path& part : full) {
    above /= part;
    struct stat info {};
    if (::stat(above.c_str(), &info) != 0)
      return Error{.message = what + " cannot be looked at", .file = above.string()};
    const mode_t needed = info.st_uid == who->user ? S_IXUSR : info.st_gid == who->group ? S_IXGRP : S_IXOTH;
    if ((info.st_mode & needed) != 0) continue;
    return Error{
        .message = fmt::format("{} is in {}, and the sandbox, which root starts as the user nobody, may not enter {}",
                               what, full.string(), above.string()),
        .advice = fmt::format("grade as an ordinary user from a folder of theirs, move the checkout to a place "
                              "such as /opt, or: chmod o+x {}",
                              above.string())};
  }
  return kOk;
}

Status require_boxes() {
  const BoxFacts facts = box_facts();
  if (facts.works.value_or(false)) return kOk;
  return trouble_of(facts);
}

}  // namespace roofwalk
