#include "grader/session.h"

#include <fmt/format.h>

#include <cstdio>

#include "grader/roofs.h"

namespace roofwalk {

namespace fs = std::filesystem;

const Course& Session::course() {
  if (!course_) course_ = value_or_fail(open_course({}));
  return *course_;
}

const Chapter& Session::chapter(const std::string& name) { return *value_or_fail(course().find(name), kUsage); }

Store& Session::store() {
  if (!store_) {
    const fs::path file = course().database();
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    store_ = value_or_fail(Store::open(file));
  }
  return *store_;
}

const Bench& Session::bench() {
  if (!bench_) {
    constexpr std::string_view kVirtual = "virtual:";
    std::string device = options.device;
    if (device.starts_with(kVirtual)) device = std::string(kVirtual) + machine_name(device.substr(kVirtual.size()));
    auto opened = open_bench(course(), device, options.threads, &store());
    if (!opened) throw Failure{opened.error(), options.device.starts_with("cuda") ? kSkipped : kUsage};
    bench_ = std::move(*opened);
  }
  return *bench_;
}

const Bench& Session::measured_bench() {
  if (!has_measured_roofs_) {
    bench();
    value_or_fail(use_measured_roofs(*bench_));
    has_measured_roofs_ = true;
  }
  return *bench_;
}

std::vector<Dot> Session::dots(const Chapter& chapter) {
  return dots_of(value_or_fail(store().walk(chapter.name, bench().device_name())));
}

const Chapter* Session::next_chapter() {
  for (const Chapter& chapter : course().chapters) {
    const auto walk = dots(chapter);
    const Dot* best = best_dot(walk);
    if ((best == nullptr || best->grade == Grade::none) && !not_offered(chapter, bench().machine)) return &chapter;
  }
  return nullptr;
}

fs::path Session::from_caller(const fs::path& typed) const {
  const fs::path full = (typed.is_absolute() ? typed : caller_folder_ / typed).lexically_normal();
  const fs::path inside = full.lexically_relative(fs::current_path());
  return inside.empty() || *inside.begin() == ".." ? full : inside;
}

std::string Session::machine_name(const std::string& typed) const {
  return typed.ends_with(".toml") ? from_caller(typed).string() : typed;
}

Colors colors_for(const Options& options) { return Colors(!options.json && wants_color()); }

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_json(const Json& json) { print(json_text(json) + "\n"); }

}  // namespace roofwalk
