
/// A motion by steps of $h s; copies are motions of their own.
class Motion {
public:
    $state state;

    /// Begins at time zero. Loops that are open by 1 mm or mrad at most are closed.
    Motion(const std::array<Real, nq> &q, const std::array<Real, nv> &v)
    {
        check($begin(&state, q.data(), v.data()));
    }

    /// A step; where that fails the state stays as it was.
    void step($given)
    {
$statements
    }
};
