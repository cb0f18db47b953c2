// All operations on variables: enough to write a new cell or score from.
// Each stands beside its adjoint in a file of its own.
#pragma once

#include <bahdanau/autograd/ops/convolution.hpp>
#include <bahdanau/autograd/ops/draw.hpp>
#include <bahdanau/autograd/ops/dropout.hpp>
#include <bahdanau/autograd/ops/heads.hpp>
#include <bahdanau/autograd/ops/layer_norm.hpp>
#include <bahdanau/autograd/ops/maxout.hpp>
#include <bahdanau/autograd/ops/pointwise.hpp>
#include <bahdanau/autograd/ops/product.hpp>
#include <bahdanau/autograd/ops/reduce.hpp>
#include <bahdanau/autograd/ops/residual.hpp>
#include <bahdanau/autograd/ops/shape.hpp>
#include <bahdanau/autograd/ops/softmax.hpp>
#include <bahdanau/autograd/ops/spans.hpp>
