/* An object that needs what nobody gives it. */
double elsewhere(double);
extern int far_away[4];

double needs(double x)
{
    return elsewhere(x) + far_away[2];
}
