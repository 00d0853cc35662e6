"""The parts of a robot that trees and closed linkages share, one file each."""
