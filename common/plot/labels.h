// Finds a free place for each text of a drawing, in pixels (y upwards).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace roofwalk {

struct Pixel {
  double x = 0, y = 0;
};

// A text rotated by `angle_deg` around its centre.
struct TextBox {
  Pixel center;
  double width = 0, height = 0;
  double angle_deg = 0;
};

// Returns a generous estimate, because the viewer's font is unknown.
double text_width(std::string_view text, double font_size);

class LabelPlacer {
 public:
  // Texts must stay inside this rectangle.
  LabelPlacer(Pixel low, Pixel high) : low_(low), high_(high) {}

  // These add obstacles for texts; covering one with a higher weight costs more.
  void add_segment(Pixel from, Pixel to, double clearance, double weight);
  void add_disc(Pixel center, double radius, double weight);

  // Returns the index of the candidate with the lowest cost, the first if several have it. The chosen text becomes an
  // obstacle for later ones.
  std::size_t place(const std::vector<TextBox>& candidates);

  // Returns the cost of a text at this place: the weights of the obstacles that it covers, and more outside the
  // rectangle.
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
