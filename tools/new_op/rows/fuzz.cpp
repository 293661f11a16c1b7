void expect_@op@(Case* test) {
  ExpectedTensor& y = output_of(test, "y");
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    Real greatest = -std::numeric_limits<Real>::infinity();
    bool nan = false;
    for (const Real x : row) greatest = std::max(greatest, x), nan = nan || std::isnan(x);
    if (nan || std::isinf(greatest)) greatest = kNan;
    std::vector<Real> power;
    for (const Real x : row) power.push_back(std::exp(x - greatest));
    const Real logarithm = std::log(static_cast<Real>(sum(power)));
    for (size_t c = 0; c < row.size(); ++c) {
      const double value = static_cast<double>(row[c] - greatest - logarithm);
      y.values[first + c] = value;
      y.scale.push_back(std::isfinite(value) ? std::max(std::fabs(value), 1.0) : 0);  // the sum is 1 or more, and is rounded
    }
  });
}
