"""Numerical tolerances, all of them: which numbers are equal, zero, at a limit, or good enough.

The name of a tolerance says what is compared, and its comment with what and why it has that size.
One that two modules share is one decision; two of the same size with two names are two of them.
Where a tolerance is a pair, its numbers are those in double and in single precision.
"""

from __future__ import annotations

# Rounding of numbers of size one.

#: Two terms of a product that cancel leave this part of them: two units of the last place.
CANCELLATION_ROUNDING = 4e-16
#: A summand that is a smaller part of another one is not added to it before the rest of the sum: it
#: may be there to keep a denominator from zero, and single precision would lose it in the other.
LOST_SUMMAND = 1e-6
#: A decimal number leaves this part of itself after a few sums and products with it.
DECIMAL_ROUNDING = 1e-14
#: Sum of some sixteen products of numbers of size one: residuals below it are rounding.
MATRIX_ROUNDING = 16.0 * 2.0**-52
#: Numbers below this [any unit] come near the subnormal ones and do not have all their digits.
SMALLEST_FULL_PRECISION = 1e-290
#: Added to a denominator that may be zero with its numerator; too small to change another one.
QUOTIENT_FLOOR = 1e-300

# Rotations and quaternions.

#: A quaternion whose norm differs from one by less is taken as it is, so that bits stay.
QUATERNION_ROUNDING = 1e-14
#: A given quaternion may miss the norm one by this: single precision leaves 1e-7.
QUATERNION_NORM = 1e-6
#: The rotation matrix of a given pose may miss orthogonality by this, as single precision does.
ROTATION_ORTHOGONALITY = 1e-6
#: Sum of squares by which a target may miss a rigid transform: the square of the one above.
RIGID_TRANSFORM = 1e-12
#: Added to the square of an angle [rad^2] that is divided by. It is too little to change any angle
#: that matters, in single precision too; a sine over it is then exactly its limit.
SQUARED_ANGLE_FLOOR = 1e-30
#: Added to a square so that the measure of a joint's gap stays finite at half a turn.
SQUARED_COSINE_FLOOR = 1e-20
#: At half a turn there are two ways round. In double and in single precision, a cosine whose size
#: is below this counts as positive, so that one of them is taken.
HALF_TURN_COSINE = 1e-150, 1e-18
#: Keeps the root at half a turn from being divided by as zero; its square is above rounding.
HALF_TURN_ROOT_FLOOR = 1e-7
#: An axis nearer than this to -z [rad] has no direction of shortest rotation from z.
OPPOSITE_AXES = 1e-7

# Numbers of a file, which are rounded.

#: Part of the trace by which an inertia may miss the triangle inequality, as six digits leave.
INERTIA_TRIANGLE = 1e-6
#: Cosine of the angle of a universal joint's axes above which they are parallel.
PARALLEL_COSINE = 1 - 1e-9
#: The axes of a gearbox and of its hinges are parallel to within this, of the cosine.
GEARBOX_PARALLEL = 1e-6
#: Least singular value of the matrix of a transmission whose rows have length one: below it,
#: torques of motors would have fewer than half of their digits.
SINGULAR_TRANSMISSION = 1e-8
#: A joint this near to the origin of its child [m] is at it: rounding of the poses between.
SAME_ORIGIN = 1e-12
#: Gravity of an SDF world that differs by less [m/s^2] from the Earth's default is that one.
DEFAULT_GRAVITY = 0.02
#: How far beyond its limit a joint may be looked for [rad, m]: people round what they read.
PLACEMENT_OVER_LIMIT = 1e-2
#: An angle that differs by less [rad] from a multiple of 15 degrees has all its digits.
WRITTEN_IN_FULL = 1e-10
#: Gaps of loops up to this [rad, parts of the longest link] come from five-digit numbers.
ROUNDED_FILE_GAP = 1e-5
#: Gaps of loops below this [rad, parts of the longest link] are rounding of some products of poses.
ROUNDED_GAP = 1e-15
#: Displacements below this [rad, parts of the longest link] have such squares.
ROUNDED_STEP = 1e-8
#: Singular values of constraints above this part of the largest are no rounding of double precision
#: in the Jacobian; between it and what a file's digits can do, these decide. It is less than the
#: product of `SMALL_ROW` and `CONSTRAINT_RANK`, so that no small row counts for more.
EXACT_RANK = 1e-13
#: Singular values below this are doubtful where turns are exact: other digits would be.
EXACT_TURNS_RANK = 1e-4
#: Of the matrix that determines how frames are displaced, singular values below this part of the
#: largest are noise at most, as digits make it, and at least, and at least in fine steps.
DISPLACEMENT_NOISE = 1e-2
LEAST_DISPLACEMENT_NOISE = 1e-6
FINE_DISPLACEMENT_NOISE = 1e-10
#: Part of that noise below which rows of the matrix are left out before it is decomposed.
NEGLIGIBLE_NOISE = 1e-3
#: Axes on one body that miss being parallel by less [rad] after frames were displaced are so: what
#: is left is the square of rounding.
ALMOST_PARALLEL = 1e-4
#: Axes on one body that miss being parallel by more [rad] are so by no displacement of a misfit.
NEARLY_PARALLEL = 0.1
#: Gaps of loops that steps with coarser noise left [rad, parts of the longest link], of which finer
#: ones may be the cure.
NEARLY_CLOSED = 1e-6
#: A joint that moves by less than this part of others, in any motion of loops, does not move.
STILL = 1e-7
#: A motion [rad, m] that is more than an infinitesimal one.
MOVED_FAR = 0.02
#: Gaps of loops above this [rad, parts of the longest link] come from no rounding.
WRONG_FILE_GAP = 0.03
#: Displacements of frames up to this [rad, parts of the longest link] are those of a misfit, which
#: messages name, and which a `closure_tolerance` as large lets be made; larger ones, of none.
MISFIT = 0.06
#: Singular values below this part of the largest come from rounded numbers more often than from a
#: machine.
ROUNDED_FILE_RANK = 1e-3

# Geometry of mechanisms.

#: Angles [rad] and lengths [m] below this are rounding of the poses of a file.
FRAME_ROUNDING = 4e-15
#: Inertia components below this part of a body's largest are rounding of their sum.
LUMPED_INERTIA = 1e-15
#: Differences below this part of a body's inertia do not count against its symmetry.
SYMMETRIC_INERTIA = 1e-14
#: The inertia of a body alone counts from this part of all that its joint moves somewhere: with
#: less, half of the digits of a pivot of the mass matrix are lost.
OWN_INERTIA = 1e-7
#: With ten times as much that is clear for numbers that are right but for rounding.
CLEARLY_OWN_INERTIA = 1e-6
#: Mass and moments of a link that count as none, over those of all links together.
MASSLESS_LINK = 1e-6
#: Distance of axes from their common point that counts as none [m].
INTERSECTING_AXES = 1e-6
#: Cosine of the angle of axes that counts as none.
PERPENDICULAR_AXES = 1e-3
#: Angles [rad] and lengths [m] of trees are snapped below this: what sums and products of numbers
#: of a file leave of zero. Frames of linkages that are displaced by less are so without a warning.
DEFAULT_SNAP = 1e-10
#: The same with loops, where it has to be less than `LOOP_CLOSED`.
LOOP_SNAP = 1e-13
#: Part of its mass by which a link may differ from its body, by rounding, and be all of it.
WHOLE_LINK = 1e-9
#: Sines of angles between axes, and distances over the size of a loop, that count as zero.
LOOP_GEOMETRY = 1e-9
#: Differences of the lengths of a planar loop, over its size, up to which it counts as one that can
#: lie flat and go through.
NEARLY_FOLDING = 1e-6
#: Sines of an angle of such a loop, in double and in single precision, below which rounding takes
#: too many digits: of what a root is taken of, which takes half of them, and of what none is.
FLAT = 1e-5, 1e-2
FLAT_SMOOTH = 1e-9, 1e-4
#: Distance to such a flat posture, in half turns or whole ones, that counts as none.
AT_FLAT = 1e-9
#: Part of a length that is rounding of the sums it comes from.
LENGTH_ROUNDING = 1e-14
#: Links shorter than this [m] are points; where all are, lengths are compared with one metre.
POINT_LENGTH = 1e-9
#: Cosines, sines and lengths [m] of two postures that differ by less are of one branch.
SAME_BRANCH = 1e-6
#: Part of the product of the lengths of its rows that a determinant has to be: postures that come
#: from an iteration are known to half of the digits where it vanishes. In double and single
#: precision.
DEAD_POINT = 1e-7, 1e-4
#: Length of the last of Newton's steps [rad, m] after which the next would be rounding, as its
#: square is, in double and in single precision.
NEWTON_STEP = 1e-6, 1e-3
#: Part of a period by which the first and the last point of a table may be less or more apart.
PERIOD_ROUNDING = 1e-9
#: Part of the largest height of a table by which a curve through its points may miss them.
CURVE_FIT = 1e-9
#: Part of its terms by which a solution given by its user may miss the equations that it solves:
#: numbers that it is written with have nine digits at least.
EXPLICIT_SOLUTION = 1e-8

# Positions of joints.

#: A joint within this of its limit or of its stop [rad, m] is at it, as rounding would have it.
AT_LIMIT = 1e-9
#: The same within iterations, which put joints at their limits exactly [rad, m].
ACTIVE_LIMIT = 1e-12
#: Part of a limit, or of 1 where that is more, that rounding to three digits takes.
ROUNDED_LIMIT = 1e-3
#: Two positions given for one joint that differ by less [rad, m] agree.
SAME_POSITION = 1e-9
#: Part of a limit, or of 1 where that is more, that a value may be beyond it by rounding.
LIMIT_EXCESS = 1e-9
#: The same of samples in float32.
LIMIT_EXCESS_SINGLE = 1e-6
#: Part of a limit by which joints that follow others may be beyond theirs.
FOLLOWER_LIMIT_EXCESS = 1e-9
#: How far beyond its limit a joint at rest may be [rad, m].
EQUILIBRIUM_LIMIT_EXCESS = 1e-9
#: Part of a limit by which speeds of a trajectory may exceed it: rounding of a message, and
#: overshoot between its points.
TRAJECTORY_SPEED_EXCESS = 1e-6

# Gaps of loops.

#: Rows of residuals this small [m, rad] are closed: Newton's method leaves 1e-13 to 1e-12.
LOOP_CLOSED = 1e-11
#: Gap [m, rad] after a stride of a walk, as a part of the lengths in K if these are above 1 m.
WALK_CLOSED = 1e-12
#: Newton step of a walk [rad, m] after which the next would be rounding.
WALK_STEP = 1e-8
#: Loops are closed if the correction still needed is below this [rad, m relative to the lever arms
#: of the mechanism].
ASSEMBLY_STEP = 1e-12
#: A correction below this [rad, m] leaves about its square to the next one.
LAST_CORRECTION = 1e-8
#: Gaps that a step leaves [m, rad] and that are not corrected: Newton's method gains nothing.
LOOP_DRIFT = 1e-12
#: The same of exported code in single precision, whose residuals are rounded to about 1e-7.
SINGLE_PRECISION_DRIFT = 1e-6
#: What numbers of exported code may differ by at most from those here, of the largest one, after
#: many steps or where equations are nearly singular: compilers may contract products and sums.
EXPORTED = {"double": 1e-8, "float": 1e-3}
#: Gaps that correction leaves [m, rad] and with which no motion goes on.
LOOP_APART = 1e-6
#: Gaps [m, rad] with which no motion starts, and none that gains hold closed goes on.
LOOP_OPEN = 1e-3
#: Gap [m, rad] that a predicted step of continuation may leave after some Newton steps.
PREDICTED_GAP = 1e-6
#: A posture given for another one and open by less [m, rad] needs no assembly.
POSTURE_CLOSED = 1e-8
#: A start of a comparison whose loops are open by less [m, rad] is taken as it is.
START_CLOSED = 1e-9
#: Gap [m, rad] from which on the loops of an animated mode could not be closed.
MODE_OPEN = 1e-9
#: Gaps [m, rad] above this are more than the rounding of a file, and seen in a picture.
LOOP_GAP_SHOWN = 1e-4
#: Smallest tolerance of the loops of states in single precision.
SINGLE_PRECISION_CLOSURE = 1e-4
#: Loops of given states are closed within this [rad, parts of the longest link] by default.
CLOSURE_TOLERANCE = 1e-6
#: Part of the terms of ``K v + psi`` that may be left.
LOOP_VELOCITY = 1e-9
#: Part of the terms by which accelerations may break the loops, in double and in single precision:
#: more says that the equations were too near to singular ones.
LOOP_ACCELERATION = 1e-6, 1e-3
#: Part of the terms by which controlled accelerations may miss the loops.
CONTROLLED_ACCELERATION = 1e-8

# Rank and singular values.

#: Scaled singular values of constraints below this part of the largest count as zero. It is well
#: above the rounding of a Jacobian (1e-15) and of an assembled posture (1e-13), and well below what
#: is left near a dead point that a simulation can pass.
CONSTRAINT_RANK = 1e-9
#: Columns whose parts outside the span of others are as large as this part of the largest one are
#: as good as that one: which is larger would be decided by rounding.
EQUAL_PIVOTS = 1.0 - 1e-6
#: The same of K where a walk starts, whose posture is known to fewer digits.
WALK_RANK = 1e-7
#: A row depends on another one if its coefficient, of rows of unit norm, is larger than this.
DEPENDENT_ROW = 1e-7
#: A constraint whose slopes along all motions that loops leave are smaller than this part of the
#: constraint follows from the loops: rounding leaves 1e-15 of it, and what vanishes by coincidence
#: does not at several postures.
IMPLIED_ROW = 1e-9
#: A row smaller than this part of the largest one is rounding of a zero row.
ZERO_ROW = 1e-12
#: Rows of a Jacobian of constraints [m, rad] whose numbers are smaller are rounding of zero ones,
#: also where all rows are: their joints hold nothing that others do not.
JACOBIAN_ROUNDING = 1e-14
#: A row is compared with its length, but not with less than this part of the largest row: rounding
#: of the rows that it depends on would be beyond `CONSTRAINT_RANK` of it.
SMALL_ROW = 1e-3
#: Singular values of constraints that exceed this part of the largest after a small motion grow
#: with the motion; what grows with its square is smaller.
GROWN_SINGULAR_VALUE = 1e-6
#: Rows whose smallest scaled singular value is above this are independent at every posture.
INDEPENDENT_ROWS = 1e-6
#: Dependencies of rows that differ by less from posture to posture are the same.
SAME_DEPENDENCY = 1e-7
#: A preferred speed is passed over if less than this part of its motion is new.
PREFERRED_SPEED = 1e-6
#: Least singular value, over the largest, of the columns of dependent speeds.
DEPENDENT_SPEEDS = 1e-9
#: Part of the needed generalised force that may stay unbalanced, and part of a motion that a motor
#: has to move to count as driving it.
ACTUATION_RANK = 1e-9
#: Square of the part of a motion that motors have to hold for straight-line code to share forces
#: among them, in double and in single precision: as many digits are lost.
HELD_BY_MOTORS = 1e-7, 1e-3
#: Scaled singular values below this part of the largest one take no part in a step.
LEVENBERG_RANK = 1e-10
#: Slopes below this part of their lever arms are rounding.
SLOPE_ROUNDING = 1e-15
#: Least eigenvalue of ``K K^T`` over the sum of all: normal equations lose three digits there.
NORMAL_EQUATIONS = 1e-3
#: A frame whose Jacobian has no number above this [m/rad, 1] is not moved by the joints.
MOVING_FRAME = 1e-8
#: Singular values of a frame's Jacobian below this part of the largest do not count.
JACOBIAN_RANK = 1e-9
#: Part of the forces on all joints that contacts may leave: accelerations come from a solve.
CONTACT_FORCES_LEFT = 1e-6
#: By how much a plan of iLQR may miss constraints and its goal, in their units: searches with other
#: multipliers come nearer by a factor each, and what such a plan meets is not nearer to it.
CONSTRAINT_MISSED = 1e-5
#: Weights of the squares of accelerations and of forces beside those of what tasks miss: they
#: decide only what tasks leave open.
WEIGHT_OF_MOTION, WEIGHT_OF_FORCES = 1e-9, 1e-10
#: The volume of rows of a frame's Jacobian, if they had length one, below which code leaves them to
#: singular values: with more, half of the digits of single precision are left.
FRAME_ROWS_APART = 1e-3
#: Square of such a row, over the sum of all, that may be rounding beside the others. With more, and
#: the volume above, the singular values of six rows are above `JACOBIAN_RANK` of the largest.
FRAME_ROW = 1e-8
#: Combinations of inertial parameters with less than this part of the largest singular value have
#: no effect on forces.
BASE_PARAMETER = 1e-9
#: Distance from postures where branches meet at which equations in minimal coordinates have enough
#: digits for that: they lose twice those of the distance.
FAR_FROM_BRANCHES = 1e-2
#: Constraints below this part of the strongest one bind nothing [relative singular value].
BINDING_CONSTRAINT = 1e-8
#: Singular values below this part of the largest are rounding: parameters have no effect.
EXCITATION_RANK = 1e-7
#: Singular values below this part of the largest are directions that the data do not excite.
EXCITED_DIRECTION = 1e-8
#: Columns of a regressor below this part of the largest are rounding.
ZERO_COLUMN = 1e-12
#: Effects of parameters below this part of the usual one are none; a linkage that moves little has
#: many of them.
VISIBLE_EFFECT = 1e-6
#: Part of the mass that combinations of parameters may leave out and still determine it.
DETERMINED_MASS = 1e-6
#: Singular values of loops below this part of the largest may be zero where a search has ended: it
#: leaves the root of its tolerance where two branches meet.
SINGULAR_AFTER_SEARCH = 1e-5
#: Directions with singular values below this part of the largest one change no acceleration.
STATIONARY_DIRECTION = 1e-7
#: A search for a rest that gets this near to a singular posture ends there [rad, m].
NEXT_TO_SINGULAR = 1e-9

# Pivots of the mass matrix and of equations with loops.

#: Pivots below this part of what they were before elimination have lost their digits, in double and
#: in single precision.
PIVOT_DIGITS = 1e-11, 3e-4
#: Pivots below this part of what they are elsewhere are zero but for rounding, in double and in
#: single precision.
PIVOT_ZERO = 1e-22, 1e-12
#: The same for equations with loops: pivots below this part of their former value are zero.
LOOP_PIVOT_DIGITS = 1e-11
#: Pivots below this part of the sum of all: rows that vanish as a whole.
LOOP_ROW_ZERO = 1e-22
#: Eigenvalues and pivots of a scaled mass matrix (1 for a single speed) below this are rounding of
#: zero.
MASS_MATRIX_ZERO = 1e-13
#: The code may have no numbers where the least eigenvalue of a scaled mass matrix is below the
#: first of a pair, or its diagonal below the second, as a part of what it is elsewhere.
NEARLY_SINGULAR = (1e-10, 2e-22), (1e-3, 2e-12)
#: Pivots of the mass matrix below this would magnify rounding; then it is augmented.
LIGHT_PIVOT = 1e-3
#: The square of a probe's solution is scaled to be below this except near a singular posture: so
#: little may be added to a result that is right.
PROBE_SOLUTION = 1e-12
#: Part of its terms by which a user's function of the speeds may miss being linear.
LINEAR_IN_SPEEDS = 1e-9
#: Part by which a user's force may miss the slope of its energy: numbers that both are written with
#: have nine digits at least.
FORCE_OF_POTENTIAL = 1e-8
#: Distance to a singular posture that is near, in double and in single precision.
NEAR_SINGULAR_POSTURE = 1e-3, 3e-2
#: Part of a result that may be wrong there, in double and in single precision.
LOST_PART = 1e-6, 1e-2
#: Gaps and rates of loops below these are rounding, in double and in single precision.
GAP_ROUNDING = 2e-16, 1e-7
#: In double precision, postures nearer than this to a singular one are looked at: enough for those
#: at which less than six digits are left, and few enough to cost little.
CHECKED_POSTURE = 2e-3
#: A posture that is this near to a singular one (`Robot.loop_rank`) is at it.
SINGULAR_POSTURE = 1e-4
#: And so near is where a motion broke down on its way there, as far as it can be foreseen.
BROKEN_DOWN_POSTURE = 1e-2
#: Part of the largest singular value of a motion that counts as none.
SINGULAR_VALUE_ZERO = 1e-6
#: Singular values that are roots of eigenvalues are rounding below this.
SINGULAR_VALUE_ROUNDING = 1e-7
#: A linkage this near to a singular posture (`Robot.loop_rank`) stops machine code at it.
SINGULAR_MOTION = 1e-6

# Contacts, stops and impacts.

#: Parts of the greatest number of a linear complementarity problem that count as zero.
COMPLEMENTARITY_ZERO = 1e-12
#: Part of the speeds before an impact that counts as none after all rebounds.
REBOUND_SPEED_ZERO = 1e-13
#: Speeds of approach, relative to all speeds of the contacts, that count as none.
APPROACH_SPEED_ZERO = 1e-9
#: Mobilities of a contact below this part of the greatest one count as zero.
MOBILITY_ZERO = 1e-11
#: A direction is immovable below this part of the mobility of the robot without constraints.
IMMOVABLE = 1e-12
#: Part of a speed, or of a mobility, that is rounding where friction is decided.
FRICTION_ROUNDING = 1e-12
#: The code for a point that sticks, or slides, has no numbers where the second of its principal
#: mobilities is between these parts of the first, or the third between those of the others: it may
#: count as zero or not.
SECOND_MOBILITY = 1e-12, 2e-3
THIRD_MOBILITY = 1e-12, 1e-9
#: Nor where all of them are below this part of the mobility of the robot without constraints,
LEAST_MOBILITY = 1e-3
#: nor where an impulse leaves more of a velocity than `APPROACH_SPEED_ZERO`, and less than this,
STILL_SLIDES = 1e-6
#: nor where what decides how it moves is nearer than this to where it changes.
DECIDED_BY_CODE = 1e-9
#: Part of its terms by which the slip may differ from zero that there were without friction.
SLIP_ENDED = 1e-11
#: Squares of a point's speeds along a direction, over those along all, that may be rounding.
CONTACT_DIRECTION = 1e-12
#: The least mass of a particle that is hit [kg]; its inverse is still a number.
LIGHTEST_PARTICLE = 1e-200
#: A direction in which a point never moves faster, at speeds of one [m/s].
IMMOBILE_POINT = 1e-12
#: Speeds away from a stop below this part of those before it was reached count as none.
STOP_SEPARATION = 1e-10
#: A stop that pushes by more than this part of the largest force holds its joint without doubt.
STOP_FORCE = 1e-6

#: Part of static friction, and of the largest acceleration, that is rounding where it breaks away.
STATIC_FRICTION = 1e-9
#: Part of static friction by which a force has to exceed it: what sticks at the limit may stay.
BREAKAWAY = 1e-13
#: Squares of speeds a unit of force, over the largest, of what does not move in a posture.
DEAD_CENTRE = 1e-14
#: Speed of a joint, over the speeds that it follows from, below which it sticks.
STICKING_SPEED = 1e-9
#: Rank of speeds that several forces give: singular values over the largest.
STICKING_RANK = 1e-9

# Times and events.

#: Part of a step within which an event is found.
EVENT_TIME_PRECISION = 1e-12
#: Part of a step within which events happen at one instant.
SAME_EVENT_TIME = 1e-9
#: A witness function that is this part of its change in a step is zero but for rounding.
WITNESS_ZERO = 1e-9
#: Values of a witness function for many samples at once and for one of them differ by less than
#: this part of the largest: numpy's functions of arrays round in another way than those of numbers.
WITNESS_OF_SAMPLES = 1e-9
#: A value that is a smaller part of the largest among its block may be on either side of zero.
WITNESS_SIGN = 1e-12
#: A gap that becomes smaller by less than this in a step [rad, m] stays as it is.
GAP_CLOSING = 1e-12
#: Instants within this part of a step, or of a motion, are one.
SAME_TIME = 1e-12
#: A point lands where it is this deep [m], and stands without depth: so what stands does not land
#: again.
LANDED_DEPTH = 1e-9
#: A step below this part of the time, or of 1 s, is none: time would stand still.
SHORTEST_STEP = 1e-13
#: Part of a period by which the instants of a controller may be early or late, by rounding.
SAMPLE_TIME_ROUNDING = 1e-9
#: Shorter motions than this [s] have a duration whose square is zero.
SHORTEST_DURATION = 1e-100
#: Part by which the numbers of a robot may differ from those in the file of its motion: the same
#: description in another format has them rounded in the last digits.
SAME_ROBOT = 1e-9
#: Part of the energies by which the one in a table may differ from that of the robot it is read
#: for: motions of single precision have seven digits.
SAME_ENERGY = 1e-5
#: Part of the largest acceleration by which those in a table may differ from what its forces give.
SAME_ACCELERATIONS = 1e-4
#: Instants this near to each other get the same noise [s].
SAME_NOISE = 1e-9
#: Positions and speeds beyond this [rad, m], [rad/s, m/s] are those of no robot: a double has ten
#: digits left behind the point.
FARTHEST = 1e6
#: Part of the energy exchanged that may come from nowhere in a simulated robot that goes on, and
#: energy a mass and a squared step [J/kg/s^2]: ten times that of a step of free fall from rest.
ENERGY_FROM_NOWHERE, ENERGY_OF_FIRST_STEPS = 0.5, 500.0
#: Shortest time between points of a trajectory [s]: a nanosecond, as messages count, and rounding.
SHORTEST_PIECE = 0.999e-9
#: Sums of steps of a ROS clock may be off by this [s]: it counts in nanoseconds.
CLOCK_ROUNDING = 1e-9
#: Part of the time between the first and the last sample by which times may be rounded.
RECORD_TIME = 1e-9
#: Part of a step by which the times of a record may be uneven and still count as even.
EVEN_RECORD = 1e-3
#: How far a sample may be from the end of the step before, per unit of its size.
STEP_JOIN = 1e-8

# Iterations that have converged.

#: Last Newton step of an implicit stage, per unit of what it changes.
NEWTON_CONVERGED = 1e-12
#: Forces of an optimal step that change by less than this part of themselves have settled.
FORCES_SETTLED = 1e-10
#: Change of a variational step, over the largest speed, after which none is needed.
VARIATIONAL_CONVERGED = 1e-15
#: Change at which iterations that no longer come nearer have converged but for rounding.
VARIATIONAL_STALLED = 1e-9
#: An attempt to assemble ends when the residual falls by less than this part in several steps.
LEVENBERG_STALLED = 1e-6
#: Out of reach, another posture has to be nearer to the target by this part.
NEARER_POSTURE = 1e-6
#: Part of the factor of time to which limits of torque are met.
TIME_SCALE_PRECISION = 1e-6
#: Errors of inverse kinematics [m, rad] below which a target is reached.
TARGET_REACHED = 1e-9
#: Errors of inverse kinematics [m, rad] that steps are made for, below the one above.
TARGET_WANTED = 1e-10
#: What may be left of an acceleration, over what a unit of a coordinate changes it by.
EQUILIBRIUM_ACCELERATION = 1e-10
#: Accelerations of a steady motion that count as none, over the square of its largest rate.
STEADY_ACCELERATION = 1e-6
#: Square of a Newton step in its own measure that is none, as a part of the weight of the prior.
IDENTIFICATION_CONVERGED = 1e-10
#: The same as a part of the sum of squares of the measured forces: rounding.
IDENTIFICATION_ROUNDING = 1e-26
#: Part by which the noise of each row may change when it is estimated anew.
NOISE_CONVERGED = 1e-6
#: Steps of inverse kinematics [rad, m] that lead nowhere: toward targets.
STEP_TO_TARGET = 1e-11
#: And toward a preferred posture, along a valley that is flatter.
STEP_TO_POSTURE = 1e-8
#: Independent coordinates this near [rad, m] to where they should be have reached it.
REDUCED_MOTION_END = 1e-11

# Energy, forces and speeds that are rounding.

#: Part of the energy itself that rounding may take.
ENERGY_ROUNDING = 1e-9
#: Energy a mass [J/kg] that rounding may take where there is none: of what rests at height zero.
ENERGY_AT_REST = 1e-12
#: The same of motions in float32, in which every step is rounded to 6e-8 of the state: what sums
#: of many such steps may come to, and what a mass weighs that is moved by 1e-6 m.
ENERGY_ROUNDING_SINGLE = 1e-5
ENERGY_AT_REST_SINGLE = 1e-5
#: Accelerations of a posture at rest [rad/s^2, m/s^2] that are rounding.
REST_ACCELERATION = 1e-6
#: Accelerations of controlled joints per acceleration of a motor that count as none.
UNCOUPLED_MOTOR = 1e-4
#: Difference that rounding and Simpson's rule may leave between a path and its rate, as a part of
#: the largest rate.
PATH_RATE_ERROR = 1e-5
#: Swings of smooth paths beyond samples that are no more than this [rad, m] are noise.
PATH_SWING = 1e-2
#: Noise of measured forces below this part of them is none: rounding.
LEAST_NOISE = 1e-12
#: Forces that are this many times what a fit leaves of them are not above the noise.
UNEXPLAINED_FORCE = 1.4
#: Terms of an equation that are this many times its force balance one another.
BALANCED_TERMS = 10.0
#: What is left of an equation below this part of its terms is rounding.
ROUNDED_EQUATION = 1e-9
#: Forces below this are zero, so that what is divided by them has a square [N, N m].
NO_FORCE = 1e-100

# Linear models.

#: Numbers of a matrix that should be zero, over the largest one.
MATRIX_ZERO = 1e-16
#: Relative error of a matrix of derivatives.
DERIVATIVE_ERROR = 1e-11
#: Numbers of balanced matrices below this part of the largest say that a mode is not reached.
UNREACHED_MODE = 1e-10
#: Parts of a mode smaller than this, over the largest, are not drawn.
MODE_SHOWN = 1e-3
#: Poles, and their real parts, below this, over the largest pole, are drawn as zero.
POLE_SHOWN = 1e-9
#: Coordinates that take less than this part of the largest number of a mode do not move.
MODE_UNMOVED = 1e-6
#: A spectral radius counts as larger than 1 from this much beyond.
SPECTRAL_RADIUS_MARGIN = 1e-6
#: Part of the memory of a controller by which a sample may change it at rest.
MEMORY_AT_REST = 1e-12
#: Smallest singular value, over the largest, in which a sample changes a memory: in others it keeps
#: what it has.
MEMORY_RANK = 1e-9
#: From which difference to 1 on an eigenvalue of a memory is none that it keeps.
MEMORY_KEPT = 1e-6
#: Poles below this part of the largest one are zero but for rounding.
STILL_PART = 1e-6
#: An imaginary step for derivatives, whose square is nothing beside 1.
COMPLEX_STEP = 1e-30
#: Poles [1/s] that are zero but for rounding: nothing would be seen to move within years.
STILL_POLE = 1e-9
#: Modes whose poles lie to the left of this part of the fastest one decay.
DECAYING_POLE = 1e-9
#: Eigenvalues of a weight matrix below this part of the largest one are zero.
EIGENVALUE_ZERO = 1e-12

# Files for other programs.

#: Mass and inertia of a link that moves and has none [kg, kg m^2], which MuJoCo and Gazebo need.
LEAST_MASS = 1e-9
#: Least principal moment that MuJoCo takes [kg m^2]; in USD, zero stands for what is not given.
LEAST_MOMENT = 1e-14

# Pictures.

#: Axes of joints that are parallel, or at right angles, within this are those of a planar linkage,
#: which is drawn in its plane: no eye sees less.
PLANAR = 1e-3

# Installations.

#: Relative error of the acceleration of a pendulum that is right: some ten operations.
PENDULUM_ROUNDING = 1e-12

# Plans.

#: Constraints of a plan are missed by more than this, in their units; and what stands against them
#: has at least this part of the largest price.
PLAN_MISSED = 1e-6
PLAN_AGAINST = 1e-2
