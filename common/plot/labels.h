// Finds a free place for each text of a drawing, in pixels (y upwards).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace roofwalk {

struct Pixel {
  double x = 0, y = 0;
};

// A text turned by `angle_deg` around its centre.
struct TextBox {
  Pixel center;
  double width = 0, height = 0;
  double angle_deg = 0;
};

// Estimated, generously: which font a viewer has is not known.
double text_width(std::string_view text, double font_size);

class LabelPlacer {
 public:
  // Nothing may leave this rectangle.
  LabelPlacer(Pixel low, Pixel high) : low_(low), high_(high) {}

  // Things that texts avoid; a text that covers something of a higher weight is worse.
  void add_segment(Pixel from, Pixel to, double clearance, double weight);
  void add_disc(Pixel center, double radius, double weight);

  // The index of the candidate that covers least, the earliest of equals; it is an obstacle from now on.
  std::size_t place(const std::vector<TextBox>& candidates);

  // How much the text covers; 0 is free.
  double cost(const TextBox& box) const;

 private:
  struct Obstacle {
    Pixel from, to;
    double clearance = 0, weight = 0;
  };

  Pixel low_, high_;
  std::vector<Obstacle> obstacles_;
};

}  // namespace roofwalk
