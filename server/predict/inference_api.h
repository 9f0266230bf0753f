// The Open Inference Protocol, version 2: health, metadata, inference, and the models' repository.
#pragma once

#include "server/http/router.h"
#include "server/predict/service.h"

namespace annulus::server {

void add_inference_routes(Service& service, Router& router);

}  // namespace annulus::server
