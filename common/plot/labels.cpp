#include "common/plot/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "common/base/check.h"

namespace roofwalk {
namespace {

constexpr double kTextWeight = 10;
constexpr double kOutsideWeight = 100;
constexpr double kStep = 4;  // in pixels; grid step of the tested positions in a text

double distance(Pixel p, Pixel from, Pixel to) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length2 = dx * dx + dy * dy;
  const double t = length2 == 0 ? 0 : std::clamp(((p.x - from.x) * dx + (p.y - from.y) * dy) / length2, 0.0, 1.0);
  return std::hypot(p.x - from.x - t * dx, p.y - from.y - t * dy);
}

// Calls visit(pixel) on a grid over the text.
template <class Visit>
void for_each_place(const TextBox& box, Visit visit) {
  const double angle = box.angle_deg * std::numbers::pi / 180;
  const int across = std::max(1, static_cast<int>(box.width / kStep));
  const int up = std::max(1, static_cast<int>(box.height / kStep));
  for (int i = 0; i <= across; ++i) {
    for (int j = 0; j <= up; ++j) {
      const double u = (static_cast<double>(i) / across - 0.5) * box.width;
      const double v = (static_cast<double>(j) / up - 0.5) * box.height;
      visit(Pixel{box.center.x + u * std::cos(angle) - v * std::sin(angle),
                  box.center.y + u * std::sin(angle) + v * std::cos(angle)});
    }
  }
}

}  // namespace

double text_width(std::string_view text, double font_size) {
  return 0.6 * font_size * static_cast<double>(text.size());
}

void LabelPlacer::add_segment(Pixel from, Pixel to, double clearance, double weight) {
  obstacles_.push_back({from, to, clearance, weight});
}

void LabelPlacer::add_disc(Pixel center, double radius, double weight) {
  obstacles_.push_back({center, center, radius, weight});
}

double LabelPlacer::cost(const TextBox& box) const {
  double sum = 0;
  for_each_place(box, [&](Pixel p) {
    if (p.x < low_.x || p.x > high_.x || p.y < low_.y || p.y > high_.y) sum += kOutsideWeight;
    for (const Obstacle& o : obstacles_) {
      if (distance(p, o.from, o.to) < o.clearance) sum += o.weight;
    }
  });
  return sum;
}

std::size_t LabelPlacer::place(const std::vector<TextBox>& candidates) {
  ROOFWALK_CHECK(!candidates.empty());
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size() && least > 0; ++i) {
    if (const double c = cost(candidates[i]); c < least) {
      least = c;
      best = i;
    }
  }
  const TextBox& box = candidates[best];
  const double angle = box.angle_deg * std::numbers::pi / 180;
  const double reach = std::max(0.0, (box.width - box.height) / 2);
  const Pixel half{reach * std::cos(angle), reach * std::sin(angle)};
  add_segment({box.center.x - half.x, box.center.y - half.y}, {box.center.x + half.x, box.center.y + half.y},
              box.height / 2 + 2, kTextWeight);
  return best;
}

}  // namespace roofwalk
