// POST /api/v1/vision/labels: labels for the photos of PhotoPrism, as its vision service gives them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/router.h"
#include "server/predict/service.h"

namespace annulus::server {

struct PhotoLabel {
  std::string name;
  float confidence = 0.0F;
};

// A label for each class that was predicted and not rejected, of several images of a photo the most probable; sorted by
// confidence, then by name.
std::vector<PhotoLabel> photo_labels_of(const ServedModel& model, std::span<const Prediction> predictions,
                                        double false_reject);

// The response to a request of that id.
std::string labels_json(std::string_view id, const ServedModel& model, std::span<const PhotoLabel> labels);

void add_photoprism_routes(Service& service, Router& router);

}  // namespace annulus::server
