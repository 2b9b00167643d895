set
ldx {reg=0}
ldy {reg=0}
fma32 {z=0}
fma32 {z=1}
stz {row=0}
clr
